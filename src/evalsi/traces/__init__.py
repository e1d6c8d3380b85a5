"""Traces of any convention as one kind of trajectory. Pure: no clock, no network, no store. The face of this package."""
