"""An example of a third party's evaluators. Importing it does nothing: evalsi finds its parts by entry point."""
