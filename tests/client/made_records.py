"""Records for tests that send them somewhere."""

from collections.abc import Iterator

from evalsi.schema import Content, Record


def made_records(count: int) -> Iterator[Record]:
    """Every fourth answer is wrong."""
    for number in range(count):
        answer = f"answer {number}" if number % 4 else "something else"
        yield Record(
            id=f"r{number}", output=Content(text=answer), reference=Content(text=f"answer {number}"),
            metadata={"topic": f"t{number % 3}"},
        )  # fmt: skip
