"""Grading programs that nobody trusts: their code is found in an answer, run in a sandbox, and judged outside of it."""
