"""What runs inside sandboxes, as source text: standard library only, and nothing of it is imported here but `exchange`."""
