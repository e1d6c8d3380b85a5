"""Reads rewards from a file of JSON lines, as they are written by whoever scored them."""

from pathlib import Path

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.schema import Reward
from evalsi.schema.json_codec import decode
from evalsi.schema.schema_error import SchemaError


def read_rewards(path: Path) -> dict[str, Reward]:
    """The rewards by rollout id. Raises: NotFoundError, InvalidDataError: no such file, or a line that is no reward."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {error.strerror or error}") from None
    found: dict[str, Reward] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            reward = decode(line, Reward)
        except SchemaError as error:
            raise InvalidDataError(f"no reward: {error}", where=f"{path}:{number}") from None
        if reward.rollout_id in found:
            raise InvalidDataError(f"a second reward of rollout {reward.rollout_id!r}", where=f"{path}:{number}")
        found[reward.rollout_id] = reward
    return found
