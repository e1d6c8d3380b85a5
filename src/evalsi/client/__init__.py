"""Calls to a server of evalsi from Python, sync and async, and what the command line reads from a server through them."""
