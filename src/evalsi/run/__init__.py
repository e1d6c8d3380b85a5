"""The Run door: a target is asked, its answers are scored, and gates decide."""
