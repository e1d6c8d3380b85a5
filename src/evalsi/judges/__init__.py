"""Prompts, reply parsers, prices and calibration of language-model judges."""
