"""How replies are read, one module per form. Each reader takes a `ChatReply` and gives a value or raises `ReplyError`.

| form | reader | example of a reply |
|---|---|---|
| JSON by fields | `json_form.JsonForm.read` | `{"reason": "clear", "score": 0.8}` |
| rating on a scale | `rating.read_rating` | `Rating: 8/10` |
| letter grade after an anchor | `grade.read_grade` | `GRADE: C` |
| one-word label | `label.read_label` | `Verdict: INCORRECT` |
| claims, and a verdict on each | `claims.read_claims`, `claims.read_claim_verdicts` | `{"verdicts": [{"claim": 1, "verdict": "supported"}]}` |
| verdicts on numbered things | `numbered.read_numbered` | `{"passages": [{"passage": 1, "relevant": true}]}` |
| preference between two answers | `preference.read_preference` | `[[B]]` |
| rating weighed by token probabilities | `probabilities.expected_rating` | the alternatives of one token |

All of them agree on what is the judge's own word (`own_words`): reasoning blocks, quotations and repetitions of the
material are not. What cannot be read is never the lowest value, never the highest: it is no value.
"""
