"""Conditions that people write build no more than about what they read."""

import pytest

from evalsi.core.condition_growth import growth_in
from evalsi.core.errors import InvalidSpecError
from evalsi.datasets.condition import Condition as RowCondition
from evalsi.run.gates.condition import GateCondition
from evalsi.watch.condition import TRACE_VARIABLES, Condition

DOUBLED = "['a']" + ".map(x, x + x)" * 24 + ".all(x, x != 'b')"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("['a'].map(x, x + x)", 15),
        ("['a'] . map (x, x+x)", 17),
        ("[[1]].map(x, x + [1])", 15),
        ("['a'].exists(x, [x + 'b'] == [])", 17),
        ("['a'].map(x, [x, x])", 14),
        ("['a'].filter(x, {'k': x} == {})", 22),
        ("['a'].all(x, x in [x, 'b'])", 19),
        ("tools.map(a, tools.map(b, b))", 19),
        ("+".join(["name"] * 40), 164),
        # What a text holds is no part of the condition, and what only looks like a text is.
        ("r'\\' == 'b' || ['a'].map(x, x + x) == []", 30),
        ("'\\'' == '.map(' || ['a'].map(x, x + x) == []", 34),
        ("'''it's''' == name // it's\n|| ['a'].map(x, x + x) == []", 45),
    ],
)
def test_what_may_build_far_more_than_it_reads_is_found_where_it_stands(text: str, at: int) -> None:
    found = growth_in(text)
    assert found is not None
    assert found.at == at


@pytest.mark.parametrize(
    "text",
    [
        "tools.exists(t, t in ['refund', 'lookup'])",
        "tools.map(t, t.size() + 1).exists(n, n > 3) && name + '!' == 'a!'",
        "models.exists(m, m == labels['model'] || attributes['models'][m] == 1)",
        "scores.exists(s, 1 + scores[s] > 2 && scores[s] - 1 < 2)",
        "tools.filter(t, t != '.map(x, x + x)').size() > 1 // .map(x, x + x)",
        "[name, name].exists(x, x == 'a')",
        "x.map == 1 && [x][0] + [y][0] == 2",
    ],
)
def test_what_people_write_is_let_be(text: str) -> None:
    assert growth_in(text) is None


def test_every_condition_that_people_may_bring_is_bounded() -> None:
    (problem,) = Condition(f"error ||\n{DOUBLED}", TRACE_VARIABLES).problems
    assert (problem.line, problem.column) == (2, 16)
    (problem,) = GateCondition(f"run.errorRate < 0.5 &&\n{DOUBLED}").problems
    assert (problem.line, problem.column) == (2, 16)
    with pytest.raises(InvalidSpecError) as refused:
        RowCondition(DOUBLED)
    assert refused.value.where == "where:1:16"
