"""Statistics: pure functions on arrays. No records, no I/O, no global state; every formula cites its source."""
