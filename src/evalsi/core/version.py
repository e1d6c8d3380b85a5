"""The version of this distribution: read by the build, the command line and every manifest."""

__version__ = "1.0.0.dev0"
