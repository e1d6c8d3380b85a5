"""The pack `tone`: several evaluators behind one entry point. `evaluators` is the list that evalsi reads."""

from evalsi import Record, evaluator, output, text_of


@evaluator(
    name="exclamations",
    version="1.0.0",
    requires=["output"],
    outputs=[output("exclamations", low=0, higher_is_better=False, description="Number of exclamation marks.")],
    bounded=True,
)
def exclamations(record: Record) -> int:
    """How many exclamation marks the answer has."""
    return text_of(record.output).count("!")


@evaluator(
    name="shouts",
    version="1.0.0",
    requires=["output"],
    outputs=[output("shouts", "passed", higher_is_better=False, description="All letters are capitals.")],
    bounded=True,
)
def shouts(record: Record) -> bool:
    """Whether the answer is written in capitals throughout."""
    return text_of(record.output).isupper()


evaluators = [exclamations, shouts]
