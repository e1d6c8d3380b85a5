"""What a piece of feedback says: its identity, and whether it is good or bad. Pure.

A module of its own because what receives feedback and what keeps it must agree on both.
"""

import hashlib

import msgspec

from evalsi.schema import Feedback


def identified(feedback: Feedback) -> Feedback:
    """The feedback with an identifier: the sender's, else one made of its content, so that a repetition is the same."""
    if feedback.id:
        return feedback
    content = msgspec.structs.replace(feedback, project="")
    digest = hashlib.blake2b(msgspec.json.encode(content, order="sorted"), digest_size=16).hexdigest()
    return msgspec.structs.replace(feedback, id=f"content-{digest}")


def opinion(feedback: Feedback) -> float | None:
    """From -1 (bad) to 1 (good); None when it is neither, as a name or a number outside of that range."""
    if feedback.passed is not None:
        return 1.0 if feedback.passed else -1.0
    number = feedback.number
    return number if number is not None and -1 <= number <= 1 else None
