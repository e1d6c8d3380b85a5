"""The composition root: settings and a request in, ready services out. Nothing else makes a store or a client."""
