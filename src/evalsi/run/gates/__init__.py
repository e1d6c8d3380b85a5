"""Deciding gates: which figure of a run a gate asks for, whether the run meets it, and the exit status."""
