"""Rewards for trainers, from Python: `evalsi.rewards.load("reward.yaml")` is a callable for TRL, verl and OpenRLHF."""

from evalsi.rewards.load import LoadedReward, load

__all__ = ["LoadedReward", "load"]
