"""Comparing graded runs: pairs by record, paired intervals and tests, flips."""
