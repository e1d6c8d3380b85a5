"""The sandbox ladder: how a program that nobody trusts is fenced in on this machine."""

from evalsi.infra.sandbox.ladder import DRIVERS, UNFENCED, Ladder, LadderOptions, Preference

__all__ = ["DRIVERS", "UNFENCED", "Ladder", "LadderOptions", "Preference"]
