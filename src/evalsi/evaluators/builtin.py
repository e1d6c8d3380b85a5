"""The one table of built-in evaluators: pack, name, and where the code is. Adding an evaluator adds a line here."""

BUILTIN: dict[str, dict[str, str]] = {
    "core": {},
    "text": {},
    "judge": {
        "correctness": "judge.correctness:Correctness",
        "custom-judge": "judge.custom_judge:CustomJudge",
        "g-eval": "judge.g_eval:GEval",
        "llm-judge": "judge.llm_judge:LlmJudge",
        "pairwise-preference": "judge.pairwise_preference:PairwisePreference",
        "rubric-grade": "judge.rubric_grade:RubricGrade",
    },
    "rag": {
        "answer-relevance": "rag.answer_relevance:AnswerRelevance",
        "citation-accuracy": "rag.citation_accuracy:citation_accuracy",
        "context-precision": "rag.passage_relevance:ContextPrecision",
        "context-recall": "rag.context_recall:ContextRecall",
        "context-relevance": "rag.passage_relevance:ContextRelevance",
        "faithfulness": "rag.faithfulness:Faithfulness",
    },
    "safety": {
        "canary-leak": "safety.canary_leak:canary_leak",
        "injection-followed": "safety.injection_followed:injection_followed",
        "pii-leak": "safety.pii_leak:pii_leak",
        "refusal": "safety.refusal:refusal",
        "secret-leak": "safety.secret_leak:secret_leak",
        "system-prompt-leak": "safety.system_prompt_leak:system_prompt_leak",
    },
    "ml-classic": {},
}
