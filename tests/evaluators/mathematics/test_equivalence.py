"""What is equal as mathematics: the shared cases, a reference library as oracle, and laws."""

import itertools
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.evaluators.mathematics.equivalence import Comparison, MathTolerance, NeedsNumericsError
from evalsi.evaluators.mathematics.expression import UnreadableError
from evalsi.evaluators.mathematics.read_math import read_math
from tests.case_files import rows_of

SAME = [
    line.split(" ;; ")
    for line in r"""
\frac{1}{2} ;; 0.5 ;; 1/2 ;; \dfrac12 ;; \frac{2}{4} ;; 50\% ;; .5 ;; ½
\frac{3}{2} ;; 1.5 ;; 1\frac{1}{2} ;; \tfrac32 ;; 3/2 ;; 1 1/2
-\frac{2}{3} ;; \frac{-2}{3} ;; -2/3 ;; \frac{2}{-3} ;; −2/3
\sqrt{12} ;; 2\sqrt{3} ;; 2\sqrt3 ;; \sqrt{4\cdot 3} ;; \frac{6}{\sqrt{3}} ;; 2√3
\frac{\sqrt{2}}{2} ;; \frac{1}{\sqrt{2}} ;; \sqrt{\frac{1}{2}} ;; \frac{\sqrt2}2
1+\sqrt{5} ;; \sqrt{5}+1
\frac{1+\sqrt{5}}{2} ;; \frac{\sqrt5+1}{2}
2\pi ;; \pi\cdot 2 ;; 2 \pi ;; 2π
\frac{\pi}{3} ;; \pi/3 ;; \frac{1}{3}\pi
x^2+2x+1 ;; (x+1)^2 ;; 1+2x+x^2 ;; x²+2x+1
x(x-1) ;; x^2-x
\frac{x^2-1}{x-1} ;; x+1
(1,2) ;; (1, 2) ;; \left(1,2\right)
(2,1) ;; \left( 2, 1 \right)
(1,2,3) ;; (1, 2, 3)
\{1,2,3\} ;; \{3,2,1\} ;; \{1, 2, 3\}
\{1,2\} ;; \{2,1\} ;; x=1 \text{ or } x=2
[0,1) ;; \left[0,1\right)
[0,1] ;; \left[0, 1\right] ;; 0\le x\le 1
(-\infty,3) ;; x<3 ;; -\infty<x<3 ;; x \in (-\infty, 3)
(-\infty,2]\cup[5,\infty) ;; (-\infty, 2] \cup [5, \infty) ;; x\le 2 \text{ or } x\ge 5
1234 ;; 1,234 ;; 1234.0 ;; 1{,}234
1000000 ;; 10^6 ;; 10^{6} ;; 1,000,000
2^{10} ;; 1024
3.14 ;; \frac{157}{50}
y=2x+1 ;; y=1+2x ;; y-2x=1
x=5 ;; 5 ;; \boxed{5} ;; x = 2+3 = 5
e^2 ;; e^{2} ;; \exp(2)
\ln 2 ;; \ln(2) ;; \frac{1}{2}\ln 4
\sin(\frac{\pi}{5}) ;; \sin \frac{\pi}{5}
\cos^2 x+\sin^2 x ;; 1
\begin{pmatrix}1\\2\end{pmatrix} ;; \begin{pmatrix} 1 \\ 2 \end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix} ;; \begin{bmatrix}1&2\\3&4\end{bmatrix}
\text{even} ;; even ;; \text{ even}
\binom{5}{2} ;; 10
5! ;; 120
3+4i ;; 4i+3
\sqrt{-4} ;; 2i
\pm 4 ;; \{4,-4\}
90^\circ ;; 90 ;; 90^{\circ}
7\text{ cm} ;; 7 \text{cm} ;; 7
\$12.50 ;; 12.5
\frac{a}{b} ;; a/b
a^{-1} ;; \frac{1}{a}
x^{1/2} ;; \sqrt{x}
0.\overline{3} ;; \frac13
0.1\overline{6} ;; 1/6
\frac{7}{8} ;; 0.875
\sqrt[3]{16} ;; 2\sqrt[3]{2}
6.02\times10^{23} ;; 6.02e23
1011_2 ;; 1011_{2}
f(x)=3x+2 ;; 3x+2
""".strip().split("\n")
]
EXACT = Comparison(MathTolerance(), exact_only=True)


def equal(first: str, second: str, tolerance: MathTolerance | None = None) -> bool:
    """What cannot be read or evaluated is equal to nothing."""
    try:
        return Comparison(tolerance or MathTolerance()).same(read_math(first), read_math(second))
    except UnreadableError:
        return False


@pytest.mark.parametrize(("row", "expected"), rows_of("B01"))
def test_the_shared_pairs_come_out_right_in_both_orders(row: dict[str, str], expected: dict[str, Any]) -> None:
    assert equal(row["reference"], row["answer"]) is expected["equal"], expected["why"]
    assert equal(row["answer"], row["reference"]) is expected["equal"], expected["why"]


@pytest.mark.parametrize("group", SAME, ids=lambda group: group[0])
def test_all_ways_to_write_a_value_are_equal(group: list[str]) -> None:
    for first, second in itertools.permutations(group, 2):
        assert equal(first, second), (first, second)


def test_different_values_are_different() -> None:
    firsts = [group[0] for group in SAME]
    for first, second in itertools.combinations(firsts, 2):
        assert not equal(first, second), (first, second)


DISAGREEMENTS = {
    "an interval against an inequality depends on the order of its arguments": {"(-\\infty,3)", "x<3", "-\\infty<x<3"},
    "a root of a negative number is not evaluated": {"\\sqrt{-4}", "2i"},
    "scientific notation with an e is not read": {"6.02\\times10^{23}", "6.02e23"},
    "a tuple equals the set of its members": {"(1,2,3)", "\\{1,2,3\\}", "\\{1, 2, 3\\}"},
    "a pair equals the set of its members": {"(1,2)", "\\{1,2\\}"},
}
"""Where math-verify 0.9.0 says something else, and why it is wrong there."""


@pytest.mark.slow
def test_math_verify_agrees_wherever_it_is_right() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from math_verify import parse, verify

        def oracle(first: str, second: str) -> bool:
            return verify(parse(f"${first}$"), parse(f"${second}$"))

        plain = [[text for text in group if text.isascii()] for group in SAME]
        pairs = [(one, two) for group in plain for one, two in itertools.permutations(group, 2)]
        pairs += [(one[0], two[-1]) for one, two in zip(plain, plain[1:] + plain[:1], strict=True)]
        pairs += [(one[0], two[0]) for one, two in zip(plain, plain[7:] + plain[:7], strict=True)]
        assert len(pairs) > 300
        different = [pair for pair in pairs if oracle(*pair) != equal(*pair)]
    unexplained = [
        pair
        for pair in different
        if pair not in OUR_READING and not any(set(pair) <= texts for texts in DISAGREEMENTS.values())
    ]
    assert not unexplained


OUR_READING: set[tuple[str, str]] = set()
"""Filled below: what the oracle does not read at all, or reads more narrowly, and the forms that we add on purpose."""
for _texts in (
    ["\\{1,2\\}", "\\{2,1\\}", "x=1 \\text{ or } x=2"],
    ["[0,1]", "\\left[0, 1\\right]", "0\\le x\\le 1"],
    ["(-\\infty,3)", "x<3", "-\\infty<x<3", "x \\in (-\\infty, 3)"],
    ["(-\\infty,2]\\cup[5,\\infty)", "(-\\infty, 2] \\cup [5, \\infty)", "x\\le 2 \\text{ or } x\\ge 5"],
    ["\\frac{3}{2}", "1.5", "1\\frac{1}{2}", "\\tfrac32", "3/2", "1 1/2"],
    ["y=2x+1", "y=1+2x", "y-2x=1"],
    ["f(x)=3x+2", "3x+2"],
    ["1011_2", "1011_{2}"],
    ["0.\\overline{3}", "\\frac13"],
    ["0.1\\overline{6}", "1/6"],
):
    OUR_READING |= set(itertools.permutations(_texts, 2))


@pytest.mark.parametrize(
    ("policy", "equal_to"), [("fraction", {"0.28"}), ("either", {"0.28", "28"}), ("ignore", {"28"})]
)
def test_a_percent_sign_means_what_the_policy_says(policy: Any, equal_to: set[str]) -> None:
    tolerance = MathTolerance(percent=policy)
    assert {other for other in ("0.28", "28", "2800") if equal("28\\%", other, tolerance)} == equal_to


def test_rounding_forgives_decimals_and_never_whole_numbers() -> None:
    assert equal("\\sqrt{2}", "1.41421356")
    assert not equal("\\sqrt{2}", "1.414")
    assert equal("\\sqrt{2}", "1.414", MathTolerance(relative=1e-3))
    assert not equal("10000000", "10000001")
    assert not equal("\\frac{10000000}{3}", "\\frac{10000001}{3}")


def test_values_that_differ_in_the_fortieth_digit_differ() -> None:
    assert not equal("1+10^{-40}", "1")
    assert not equal("\\sqrt{2}+10^{-40}", "\\sqrt{2}")
    assert equal("\\sqrt{2}^2-2", "0")
    assert equal("(\\sqrt{3}+\\sqrt{2})(\\sqrt{3}-\\sqrt{2})", "1")


def test_roots_of_squares_are_absolute_values() -> None:
    assert equal("\\sqrt{x^2}", "|x|")
    assert not equal("\\sqrt{x^2}", "x")
    assert not equal("|x|", "x")


@pytest.mark.parametrize("text", ["4\\sqrt(2) +", "\\frac{1}", "(1,2", "\\int x dx", "a{b", "", "3 4", "1.2.3"])
def test_what_cannot_be_read_is_refused_and_never_read_in_part(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_math(text)


_ATOMS = st.sampled_from(["1", "2", "3.5", "x", "y", "\\pi", "\\frac{1}{3}", "10", "0"])
_EXPRESSIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "\\cdot "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"\\sqrt{{{text}}}"),
        st.tuples(inner, inner).map(lambda two: f"\\frac{{{two[0]}}}{{{two[1]}}}"),
    ),
    max_leaves=6,
)


@given(_EXPRESSIONS, _EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_the_verdict_does_not_depend_on_the_order(first: str, second: str) -> None:
    assert equal(first, second) == equal(second, first)


@given(_EXPRESSIONS)
@settings(max_examples=100, deadline=None)
def test_an_expression_equals_itself_and_not_itself_plus_one(text: str) -> None:
    assert equal(text, f"({text})")
    try:
        evaluable = Comparison(MathTolerance()).same(read_math(f"{text}+0"), read_math(text))
    except UnreadableError:
        return
    if evaluable and "\\frac" not in text:  # 1/0 + 1 has no value to differ
        assert not equal(text, f"{text}+1") or "\\sqrt{" in text


@given(_EXPRESSIONS, _EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_what_exact_arithmetic_decides_is_what_sixty_digits_say(first: str, second: str) -> None:
    try:
        exact = EXACT.same(read_math(first), read_math(second))
    except (NeedsNumericsError, UnreadableError):
        return
    assert exact == equal(first, second)


@given(st.text(alphabet="\\{}()[]^_$&%,.;|!+-*/=<> 0123456789abefinopqrstx", max_size=60))
@settings(max_examples=400, deadline=2000)
def test_any_text_is_read_or_refused(text: str) -> None:
    equal(text, "1")
