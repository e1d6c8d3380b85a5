# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""The binary form of the schema. Generated; used through `evalsi.schema.proto_codec` only."""
