"""Datasets: from files, streams and objects to records, with every mistake named by file, line and column."""
