"""The one table of built-in evaluators: pack, name, and where the code is. Adding an evaluator adds a line here."""

BUILTIN: dict[str, dict[str, str]] = {
    "core": {},
    "text": {},
    "judge": {},
    "rag": {},
    "safety": {
        "canary-leak": "safety.canary_leak:canary_leak",
        "injection-followed": "safety.injection_followed:injection_followed",
        "pii-leak": "safety.pii_leak:pii_leak",
        "refusal": "safety.refusal:refusal",
        "secret-leak": "safety.secret_leak:secret_leak",
        "system-prompt-leak": "safety.system_prompt_leak:system_prompt_leak",
    },
    "ml-classic": {
        "classification": "ml_classic.classification:classification",
        "classifier-calibration": "ml_classic.classifier_calibration:classifier_calibration",
        "ranking": "ml_classic.ranking:ranking",
        "regression": "ml_classic.regression:regression",
        "roc-auc": "ml_classic.roc_auc:roc_auc",
    },
}
