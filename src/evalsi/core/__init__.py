"""The one error tree, canonical hashing, identifiers and the clock: what every other package may use."""
