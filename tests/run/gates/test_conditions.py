"""Conditions in CEL: which figures they read, and mistakes with their places."""

import pytest

from evalsi.core.errors import InvalidSpecError
from evalsi.run.gates.baseline import baseline_reference
from evalsi.run.gates.condition import GateCondition
from evalsi.run.gates.figure_ask import FigureAsk
from evalsi.schema import GateStat

Stat = GateStat


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("metric('a').mean > 0", [FigureAsk(stat=Stat.MEAN, metric="a")]),
        ('metric("a b").mean > 0', [FigureAsk(stat=Stat.MEAN, metric="a b")]),
        ("metric( 'a' ) . ciLow > 0", [FigureAsk(stat=Stat.CI_LOW, metric="a")]),
        ("metric('a').passHatK(3) > 0", [FigureAsk(stat=Stat.PASS_HAT_K, metric="a", k=3)]),
        ("metric('a.pass^3').mean > 0", [FigureAsk(stat=Stat.PASS_HAT_K, metric="a", k=3)]),
        ("run.cost_usd < 2", [FigureAsk(stat=Stat.COST_TOTAL)]),
        ("run.latencyP95 < 2", [FigureAsk(stat=Stat.LATENCY_P95)]),
        ("baseline.metric('a').mean > 0", [FigureAsk(stat=Stat.MEAN, metric="a", of_baseline=True)]),
        (
            "slice('p', 'v').slice('o', 'w').metric('a').n > 1",
            [FigureAsk(stat=Stat.N, metric="a", slice=(("o", "w"), ("p", "v")))],
        ),
        ("metric('a').mean > 0 && metric('a').mean < 1", [FigureAsk(stat=Stat.MEAN, metric="a")]),
        ("'metric(1)' != 'run.x' && metric('a').n > 0 // run.nothing", [FigureAsk(stat=Stat.N, metric="a")]),
        (r"metric('it\'s').mean > 0", [FigureAsk(stat=Stat.MEAN, metric="it's")]),
    ],
)
def test_every_figure_is_known_before_anything_is_evaluated(text: str, asks: list[FigureAsk]) -> None:
    condition = GateCondition(text)
    assert condition.problems == []
    assert condition.asks == asks


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("", 1, 1, "it ends too early"),
        ("metric(name).mean > 0", 1, 8, "a name in quotes is missing here"),
        ("metric('').mean > 0", 1, 8, "is no name in quotes"),
        ("metric('a') > 0", 1, 13, "metric needs a figure"),
        ("metric('a').passAtK > 0", 1, 21, "passAtK needs the number of tries"),
        ("metric('a').passAtK(0) > 0", 1, 21, "takes a whole number from 1 up, not 0"),
        ("metric('a').passAtK(1.5) > 0", 1, 21, "takes a whole number from 1 up, not 1.5"),
        ("metric('a').mean(3) > 0", 1, 17, "mean takes no arguments"),
        ("run.n > 0", 1, 5, "unknown figure 'n'"),
        ("run > 0", 1, 5, "run needs a figure"),
        ("slice('a').metric('b').mean > 0", 1, 10, "',' is missing here"),
        ("baseline.foo > 0", 1, 10, "unknown name 'foo'"),
        ("metric('a').mean >\n  0.5 &&\n  foo", 3, 3, "unknown name 'foo'"),
        ("metric('a').n > 10 && metric('a').n < 'x'", 1, 37, "'<' does not take"),
        ("metric('a').mean = 1", 1, 18, "'=' compares nothing"),
        ("true && metric('a').mean=1", 1, 25, "'=' compares nothing"),
        ("figure_0 > 1", 1, 1, "unknown name 'figure_0'"),
        ("metric('a').mean > figure_0", 1, 20, "unknown name 'figure_0'"),
        ("x" * 5000, 1, 1, "longer than 4000 characters"),
    ],
)
def test_a_mistake_in_a_condition_is_placed_in_the_text_as_written(
    text: str, line: int, column: int, said: str
) -> None:
    condition = GateCondition(text)
    assert condition.problems
    first = condition.problems[0]
    assert (first.line, first.column) == (line, column), condition.problems
    assert said in first.message


@pytest.mark.parametrize("text", ["metric('a').mean = 1", "metric('a').n=1 && run.errorRate < 1"])
def test_one_equals_sign_in_a_gate_is_one_mistake_that_says_what_to_write(text: str) -> None:
    (problem,) = GateCondition(text).problems
    assert problem.hint == "write == for equal"


@pytest.mark.parametrize(
    ("text", "path", "run", "labels"),
    [
        ("latest", "", "latest", {}),
        ("latest~2", "", "latest~2", {}),
        ("01J9ZC", "", "01J9ZC", {}),
        ("nightly", "", "nightly", {}),
        ("base.json", "base.json", "", {}),
        ("./runs/base", "./runs/base", "", {}),
        ("/tmp/base", "/tmp/base", "", {}),
        ("latest(branch=main)", "", "latest", {"branch": "main"}),
        ("latest( branch = main , suite=qa )", "", "latest", {"branch": "main", "suite": "qa"}),
    ],
)
def test_a_baseline_is_a_file_or_a_run(text: str, path: str, run: str, labels: dict[str, str]) -> None:
    found = baseline_reference(text)
    assert (found.path, found.run, found.labels) == (path, run, labels)


@pytest.mark.parametrize("text", ["", "  ", "latest(", "latest()", "latest(main)", "latest(a=)", "oldest(a=b)"])
def test_a_baseline_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidSpecError):
        baseline_reference(text)
