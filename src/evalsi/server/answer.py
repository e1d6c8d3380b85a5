"""An answer that knows a quicker way to its JSON than through its message.

Its own module because services make such answers and protocols read them. A service may return one wherever it could
return the message; both say the same.
"""

from collections.abc import Callable

import msgspec

from evalsi.schema.json_codec import encode_camel


class QuickAnswer:
    """The message and its REST form, each made only when it is asked for."""

    def __init__(self, message: Callable[[], msgspec.Struct], rest_json: Callable[[], bytes]) -> None:
        self.message = message
        self.rest_json = rest_json


def message_of(answer: msgspec.Struct | QuickAnswer) -> msgspec.Struct:
    return answer.message() if isinstance(answer, QuickAnswer) else answer


def json_of(answer: msgspec.Struct | QuickAnswer) -> bytes:
    """The REST form."""
    return answer.rest_json() if isinstance(answer, QuickAnswer) else encode_camel(answer)
