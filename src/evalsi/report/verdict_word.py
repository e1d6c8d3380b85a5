"""A verdict in a word: whether it passed, where it is said that to be true is good; else only what was said.

Its own module because reports, pages and commands say it alike. What always holds: nobody is told that an answer passed or
failed by a measure of which nobody said which way is better, or of which the other way is: a jailbreak that succeeded has
not passed.
"""


def verdict_word(said: bool, *, better: bool | None) -> str:
    """Pass or fail, or yes or no.

    Args:
        better: Whether it is better for the metric to be high; None where nobody said.
    """
    if better:
        return "pass" if said else "fail"
    return "yes" if said else "no"


def is_good(said: bool, *, better: bool | None) -> bool | None:
    """None where nobody said which way is better."""
    return None if better is None else said is better
