"""The server: a face that answers over the network what the jobs do."""
