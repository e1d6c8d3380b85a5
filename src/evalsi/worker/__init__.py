"""The face of worker processes: reads calls from its parent, does them through the jobs, answers. Decides nothing."""
