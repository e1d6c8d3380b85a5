"""The service methods, written once: a request message and a caller in, a response message out."""
