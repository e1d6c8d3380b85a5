"""Sending a message of a policy to somebody outside."""

from typing import NamedTuple, Protocol

from evalsi.ports.policy_store import Delivery


class Sent(NamedTuple):
    """How an attempt ended."""

    delivered: bool
    error: str = ""
    """Why it was not delivered, without any secret."""
    lasting: bool = False
    """Whether trying again cannot help: the address may not be called, or its owner refuses the message for good."""


class NoticeSender(Protocol):
    """Sends messages. For one event loop."""

    async def send(self, delivery: Delivery) -> Sent:
        """One attempt. Never raises for what the other side does."""
        ...
