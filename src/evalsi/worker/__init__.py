"""Processes that a server starts to work for it: they read what to do from it, do it through the jobs, and end with it."""
