"""Processes that a server starts to work for it. They are told what to do on standard input and end with the server."""
