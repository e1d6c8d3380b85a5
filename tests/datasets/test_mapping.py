"""Columns become fields as the mapping says, and a mistyped one is refused before anything runs."""

import pytest

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, InvalidSpecError, UnknownNameError
from evalsi.datasets import DatasetOptions, mapping_of_flags, open_dataset
from evalsi.schema import Record
from evalsi.schema.json_codec import to_jsonable

ROW = {
    "question": "Why?",
    "topic": "x",
    "data": {"q": "deep", "n": 2},
    "messages": [{"role": "user", "content": "hello"}],
    "n": 7,
}


def mapped(mapping: dict[str, str], row: dict = ROW) -> Record:
    (record,) = open_dataset([row], options=DatasetOptions(mapping=mapping))
    return record


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("question", "Why?"),
        ("data.q", "deep"),
        ("messages.0.content", "hello"),
        ("Q: {question} ({topic})", "Q: Why? (x)"),
        ("{data.q} {{kept}} {n}", "deep {kept} 7"),
        ("{data}", '{"q": "deep", "n": 2}'),
        ("n", "7"),
    ],
)
def test_an_expression_reads_a_column_a_path_or_a_template(expression: str, text: str) -> None:
    assert text_of(mapped({"input": expression}).input) == text


def test_a_column_whose_name_looks_like_a_path_or_a_template_is_that_column() -> None:
    row = {"data.q": "literal", "data": {"q": "nested"}, "{x}": "braces"}
    assert text_of(mapped({"input": "data.q"}, row).input) == "literal"
    assert text_of(mapped({"input": "{x}"}, row | {"x": "filled"}).input) == "braces"


def test_a_column_mapped_whole_leaves_the_metadata_and_one_looked_into_stays() -> None:
    record = mapped({"input": "question", "output": "data.q", "reference": "about {topic}"})
    assert set(record.metadata) == {"topic", "data", "messages", "n"}


def test_a_field_that_is_displaced_by_the_mapping_moves_to_metadata() -> None:
    record = mapped({"input": "prompt"}, {"id": "a", "input": "old", "prompt": "new"})
    assert text_of(record.input) == "new"
    assert record.metadata == {"input": "old"}


def test_two_fields_can_be_swapped() -> None:
    record = mapped({"output": "reference", "reference": "output"}, {"output": "a", "reference": "b"})
    assert (text_of(record.output), text_of(record.reference), record.metadata) == ("b", "a", {})


def test_metadata_and_usage_take_single_keys() -> None:
    row = {"took": 250, "area": "x", "metadata": {"kept": 1}}
    record = mapped({"usage.latency_ms": "took", "metadata.topic": "area"}, row)
    assert record.usage is not None
    assert record.usage.latency == 0.25
    assert record.metadata == {"kept": 1, "topic": "x"}


def test_a_mistyped_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'question'"):
        open_dataset([ROW] * 3, options=DatasetOptions(mapping={"input": "qestion"})).scan()
    with pytest.raises(UnknownNameError, match="did you mean 'topic'"):
        open_dataset([ROW], options=DatasetOptions(mapping={"input": "{question} {topc}"}, on_invalid="skip")).scan()


def test_a_mistyped_column_of_a_table_is_refused_though_cells_may_be_empty(tmp_path) -> None:
    (tmp_path / "d.csv").write_text("id,question,topic\n1,,x\n2,why,\n")
    options = DatasetOptions(mapping={"input": "question", "reference": "about {topic}"})
    first, second = open_dataset(tmp_path / "d.csv", options=options)
    assert first.input is None
    assert text_of(second.reference) == "about "
    with pytest.raises(UnknownNameError, match="did you mean 'question'"):
        open_dataset(tmp_path / "d.csv", options=DatasetOptions(mapping={"input": "qestion"})).scan()


def test_a_row_without_a_mapped_column_is_a_broken_row() -> None:
    with pytest.raises(InvalidDataError, match=r"records, row 2: field input is missing: the row has no 'q'"):
        open_dataset([{"q": "a"}, {"r": "b"}], options=DatasetOptions(mapping={"input": "q"})).scan()


@pytest.mark.parametrize("mapping", [{"inpt": "question"}, {"trajectori": "question"}])
def test_an_unknown_field_is_refused_when_the_dataset_is_opened(mapping: dict) -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        open_dataset([ROW], options=DatasetOptions(mapping=mapping))


@pytest.mark.parametrize("expression", ["Q: {question", "Q: question}", "{}", "a {b{c}}"])
def test_a_template_with_a_brace_too_many_is_refused(expression: str) -> None:
    with pytest.raises(InvalidSpecError, match="map:1:"):
        open_dataset([ROW], options=DatasetOptions(mapping={"input": expression}))


def test_only_metadata_and_usage_have_keys_to_map_to() -> None:
    with pytest.raises(InvalidSpecError):
        open_dataset([ROW], options=DatasetOptions(mapping={"input.text": "question"}))


def test_flags_are_split_at_their_first_equals_sign() -> None:
    assert mapping_of_flags(["input=a=b", "id=x"]) == {"input": "a=b", "id": "x"}
    for flags in (["input"], ["=x"], ["input="], ["input=a", "input=b"]):
        with pytest.raises(InvalidSpecError):
            mapping_of_flags(flags)


def test_several_mappings_in_one_flag_are_refused_and_a_template_may_look_like_them() -> None:
    with pytest.raises(InvalidSpecError, match="give the flag once for each"):
        mapping_of_flags(["input=question,output=answer"])
    assert mapping_of_flags(["input={a},output={b}"]) == {"input": "{a},output={b}"}


def test_a_made_id_is_that_of_the_question_whatever_was_answered() -> None:
    rows = [{"question": "why?", "answer": answer, "latency": latency} for answer, latency in (("a", 1), ("b", 2))]
    options = DatasetOptions(mapping={"input": "question", "output": "answer"})
    first, second = (next(iter(open_dataset([row], options=options))) for row in rows)
    assert first.id == second.id != mapped({"input": "question"}).id
    both = list(open_dataset(rows, options=options))
    assert [record.id for record in both] == [first.id, f"{first.id}-2"]
    assert next(record.id for record in open_dataset([{"input": "why?"}, {"other": 1}, {"other": 2}])) == first.id


@pytest.mark.parametrize("expression", ["question", "data.q", "Q: {question} ({topic})", "n"])
def test_a_mapping_means_the_same_of_a_table_and_of_the_records_that_it_was_written_down_as(expression: str) -> None:
    mapping = {"input": expression, "metadata.subject": "topic"}
    (record,) = open_dataset([ROW])
    written = to_jsonable(record, camel=False)
    assert set(written) == {"id", "metadata"}
    again, at_once = mapped(mapping, written), mapped(mapping)
    assert (again.input, again.metadata) == (at_once.input, at_once.metadata)
    with pytest.raises(UnknownNameError, match="did you mean 'question'"):
        mapped({"input": "questin"}, written)


def test_a_column_goes_before_one_of_its_name_in_metadata() -> None:
    record = mapped({"input": "q"}, {"q": "column", "metadata": {"q": "kept"}})
    assert (text_of(record.input), record.metadata) == ("column", {"q": "kept"})
