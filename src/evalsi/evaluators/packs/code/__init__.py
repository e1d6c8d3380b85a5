"""Evaluators of code: its syntax, and what it does in a sandbox."""
