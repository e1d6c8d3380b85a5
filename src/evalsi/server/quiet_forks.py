"""No words of gRPC about forks. A worker that is started is a fork for a moment, and gRPC would write lines that are no JSON into
the log.

Its own module because every command that serves says this before gRPC is loaded.
"""

import os


def keep_forks_quiet() -> None:
    """For this process and those that it starts. It has no effect once gRPC works."""
    os.putenv("GRPC_ENABLE_FORK_SUPPORT", "0")
