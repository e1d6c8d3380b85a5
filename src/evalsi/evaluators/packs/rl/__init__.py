"""Evaluators that serve as rewards in reinforcement learning; each works offline in the same way."""
