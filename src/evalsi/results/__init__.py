"""Runs that are graded: read from the store or a file, written as files and tables, always one batch at a time."""
