"""The tokens that a project may use in a day: when they are used up, and which day it is.

Its own module because runs and the judges of calls are held to the same quota.
"""

from datetime import UTC, datetime

from evalsi.ports.run_queue import TokenQuota


def used_up_tokens(project: str, day: str, quota: TokenQuota, used: tuple[int, int]) -> tuple[str, str]:
    """That the tokens of a day are used up, in words: of targets, and of judges; empty where some are left.

    Args:
        used: Tokens of targets and of judges so far.
    """
    limits = (quota.target_tokens_per_day, quota.judge_tokens_per_day)
    target, judges = (
        "" if most is None or so_far < most else sentence_of_quota(what, project, most, day)
        for what, most, so_far in zip(("target", "judge"), limits, used, strict=True)
    )
    return target, judges


def sentence_of_quota(what: str, project: str, most: int, day: str) -> str:
    """That a project has used its tokens of a day, those of "target"s or "judge"s."""
    return f"project {project} has used its {most:,} {what} tokens of {day}"


def utc_day(now: datetime) -> str:
    """The day by which tokens are counted."""
    return now.astimezone(UTC).date().isoformat()
