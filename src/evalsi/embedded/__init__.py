"""The Python door: grade in this process, in a script, a notebook or a test. Decides nothing itself."""
