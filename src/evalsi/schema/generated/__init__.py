# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What the generator writes in Python. Import from `evalsi.schema`, which exports every type."""
