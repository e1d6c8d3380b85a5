"""The job Score: grade outputs that exist."""
