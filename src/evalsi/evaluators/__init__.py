"""How an evaluator is written, found and checked; the built-in packs stand below `packs`."""
