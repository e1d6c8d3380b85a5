"""`evalsi.Client` and `evalsi.AsyncClient` against a real server."""

import asyncio
import gc
import itertools
import threading
from collections.abc import Iterator

import pytest

import evalsi
from evalsi import schema
from evalsi.client.generated_calls import AsyncCalls, Calls
from evalsi.core.errors import (
    DuplicateIdError,
    InvalidDataError,
    InvalidParamsError,
    NotFoundError,
    UnknownNameError,
    UsageError,
)
from evalsi.schema.method import METHODS
from tests.client.made_records import made_records

EXACT = schema.EvaluatorRef(ref="exact-match")


def test_every_method_of_every_service_is_a_method_of_both_clients() -> None:
    for method in METHODS:
        assert callable(getattr(AsyncCalls, method.python_name))
        assert callable(getattr(Calls, method.python_name))


@pytest.mark.slow
def test_the_results_of_many_records_come_in_their_order(url: str) -> None:
    with evalsi.Client(url) as client:
        results = list(client.evaluate_records(made_records(1000), ["exact-match", "near=fuzzy-match"]))
    expected = [(f"r{number}", name) for number in range(1000) for name in ("exact-match", "near")]
    assert [(each.record_id, each.evaluator) for each in results] == expected
    assert [each.scores[0].passed for each in results[::2]] == [number % 4 != 0 for number in range(1000)]


def test_records_are_taken_as_they_are_needed(url: str) -> None:
    taken = 0

    def endless() -> Iterator[schema.Record]:
        nonlocal taken
        for number in itertools.count():
            taken += 1
            yield schema.Record(id=str(number), output=schema.Content(text="x"), reference=schema.Content(text="x"))

    with evalsi.Client(url) as client:
        results = client.evaluate_records(endless(), ["exact-match"])
        first = list(itertools.islice(results, 300))
        results.close()
    assert len(first) == 300
    assert taken < 3000


def test_one_client_serves_a_running_loop_and_many_threads_at_once(url: str) -> None:
    counts: list[int] = []

    async def in_a_loop() -> int:
        with evalsi.Client(url) as client:
            return len(client.list_evaluators(schema.ListEvaluatorsRequest()).evaluators)

    expected = asyncio.run(in_a_loop())
    with evalsi.Client(url) as client:

        def ask() -> None:
            counts.append(len(client.list_evaluators(schema.ListEvaluatorsRequest()).evaluators))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts == [expected] * 8


def test_the_async_client_makes_calls_side_by_side(url: str) -> None:
    async def ask() -> list[int]:
        async with evalsi.AsyncClient(url) as client:
            request = schema.EvaluateRequest(records=list(made_records(50)), evaluators=[EXACT])
            answers = await asyncio.gather(*(client.evaluate(request) for _ in range(10)))
            return [len(answer.results) for answer in answers]

    assert asyncio.run(ask()) == [50] * 10


def test_a_client_that_nobody_closed_leaves_no_thread(url: str) -> None:
    before = set(threading.enumerate())
    client = evalsi.Client(url)
    client.who_am_i(schema.WhoAmIRequest())
    del client
    gc.collect()
    assert not set(threading.enumerate()) - before


def test_a_stream_answers_while_it_is_sent(url: str) -> None:
    def requests() -> Iterator[schema.EvaluateStreamRequest]:
        yield schema.EvaluateStreamRequest(config=schema.EvaluateStreamConfig(evaluators=[EXACT]))
        for record in made_records(500):
            yield schema.EvaluateStreamRequest(record=record)

    with evalsi.Client(url) as client:
        *results, last = client.evaluate_stream(requests())
    assert len(results) == 500
    assert last.summaries is not None
    assert last.summaries.summaries[0].mean == pytest.approx(0.75)


def test_what_the_source_of_a_stream_raises_reaches_the_caller(url: str) -> None:
    def requests() -> Iterator[schema.EvaluateStreamRequest]:
        yield schema.EvaluateStreamRequest(config=schema.EvaluateStreamConfig(evaluators=[EXACT]))
        raise LookupError("my own")

    with evalsi.Client(url) as client, pytest.raises(LookupError, match="my own"):
        list(client.evaluate_stream(requests()))


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (schema.EvaluateRequest(evaluators=[schema.EvaluatorRef(ref="exact-mach")]), UnknownNameError, "exact-match"),
        (
            schema.EvaluateRequest(evaluators=[schema.EvaluatorRef(ref="fuzzy-match", params={"ignore_case": 5})]),
            InvalidParamsError,
            "ignore_case",
        ),
        (
            schema.EvaluateRequest(records=[schema.Record(id="a")] * 2, evaluators=[EXACT]),
            DuplicateIdError,
            "records[0]",
        ),
        (schema.EvaluateRequest(evaluators=[schema.EvaluatorRef(ref="./mine.py:f")]), UsageError, "installed"),
    ],
)
def test_an_error_is_the_same_as_without_a_server(
    url: str, request_: schema.EvaluateRequest, error: type[evalsi.EvalsiError], words: str
) -> None:
    with evalsi.Client(url) as client, pytest.raises(error) as caught:
        client.evaluate(request_)
    assert type(caught.value) is error
    assert words in str(caught.value)


def test_errors_of_runs_and_streams_are_typed_too(url: str) -> None:
    with evalsi.Client(url) as client:
        with pytest.raises(NotFoundError):
            client.get_run(schema.GetRunRequest(id="nothing"))
        with pytest.raises(NotFoundError):
            list(client.watch_run(schema.WatchRunRequest(id="nothing")))
        with pytest.raises(UsageError, match="id"):
            client.get_run(schema.GetRunRequest())
        about = schema.DatasetUploadConfig(name="d", mapping={"input": "question"})
        with pytest.raises(UnknownNameError) as caught:
            client.upload_dataset_version(about, [b'{"q": 1}\n'])
        assert str(caught.value).startswith("d: unknown column")
        with pytest.raises(InvalidDataError, match="d:2"):
            client.upload_dataset_version(schema.DatasetUploadConfig(name="d"), [b'{"id": "1", "input": "a"}\n{'])


def test_a_dataset_comes_back_as_it_was_sent(url: str) -> None:
    lines = b"".join(b'{"id": "%d", "input": "%s"}\n' % (number, b"x" * 1000) for number in range(2000))
    pieces = [lines[place : place + 100_000] for place in range(0, len(lines), 100_000)]
    with evalsi.Client(url) as client:
        stored = client.upload_dataset_version(schema.DatasetUploadConfig(name="large", description="a & b/c"), pieces)
        assert stored.dataset is not None
        assert stored.dataset.records == 2000
        assert stored.dataset.content is not None
        assert stored.dataset.content.description == "a & b/c"
        fetched = b"".join(
            client.fetch_dataset_version(schema.FetchDatasetVersionRequest(name="large", version="latest"))
        )
    assert fetched.count(b"\n") == 2000
    assert fetched.count(b"x" * 1000) == 2000


def test_a_run_is_asked_for_watched_and_read(url: str) -> None:
    spec = schema.RunSpec(
        dataset=schema.DatasetSource(inline=schema.InlineRecords(records=list(made_records(40)))),
        evaluators=[EXACT],
    )
    with evalsi.Client(url) as client:
        asked = client.create_run(schema.CreateRunRequest(name="asked", spec=spec, labels={"a.b": "c d"})).run
        assert asked is not None
        *_, last = client.watch_run(schema.WatchRunRequest(id=asked.id))
        assert last.run is not None
        assert last.run.status is schema.RunStatus.SUCCEEDED
        page = client.list_run_results(schema.ListRunResultsRequest(run_id=asked.id, page_size=10, search="r1"))
        assert {each.record_id for each in page.results} <= {f"r{number}" for number in range(40)}
        found = client.list_runs(schema.ListRunsRequest(labels={"a.b": "c d"}, statuses=[schema.RunStatus.SUCCEEDED]))
        assert [run.id for run in found.runs] == [asked.id]
        client.delete_run(schema.DeleteRunRequest(id=asked.id))
        assert client.list_runs(schema.ListRunsRequest(labels={"a.b": "c d"})).runs == []


@pytest.mark.parametrize("url_", ["ftp://x", "127.0.0.1:8080", "http://user:secret@host"])
def test_an_address_that_is_none_is_refused_at_once(url_: str) -> None:
    with pytest.raises(UsageError) as caught:
        evalsi.Client(url_)
    assert "secret" not in str(caught.value)
