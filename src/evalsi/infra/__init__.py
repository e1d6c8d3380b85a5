"""Implementations of the ports: the store, model clients, caches. Imported by wiring alone."""
