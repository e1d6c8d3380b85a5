"""Questions over many runs: their observations and scores as tables, asked in SQL or sliced by metadata."""
