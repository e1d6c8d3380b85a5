"""YAML and JSON that people write, as plain values that know their places: run specs, policies, settings, rewards."""
