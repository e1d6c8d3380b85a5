"""The sandbox ladder: how a program that nobody trusts is fenced in on this machine."""

from evalsi.infra.sandbox.ladder import DRIVERS, Ladder, LadderOptions

__all__ = ["DRIVERS", "Ladder", "LadderOptions"]
