"""The one table of built-in evaluators: pack, name, and where the code is. Adding an evaluator adds a line here."""

BUILTIN: dict[str, dict[str, str]] = {
    "core": {},
    "text": {},
    "judge": {},
    "rag": {},
    "safety": {},
    "ml-classic": {},
}
