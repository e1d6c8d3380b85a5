"""The built-in evaluators, one folder per pack. Packs know nothing of each other."""
