"""The tables of failures, for the list of steps of the file of traces."""

FAILURE_TABLES: tuple[str, ...] = (
    # The columns beside the document are those that lists and erasure look by.
    """
    CREATE TABLE failures (
        id TEXT NOT NULL PRIMARY KEY,
        project_id TEXT NOT NULL,
        source_sha256 TEXT NOT NULL,
        trace_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        status TEXT NOT NULL,
        assignee TEXT NOT NULL,
        revision INTEGER NOT NULL,
        document TEXT NOT NULL,
        record TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX failures_by_source ON failures (project_id, source_sha256)",
    "CREATE INDEX failures_by_project ON failures (project_id, id)",
    "CREATE INDEX failures_by_trace ON failures (project_id, trace_id)",
    "CREATE INDEX failures_by_session ON failures (project_id, session_id)",
    "CREATE INDEX failures_by_user ON failures (project_id, user_id)",
    """
    CREATE TABLE failure_events (
        failure_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (failure_id, revision)
    )
    """,
)
