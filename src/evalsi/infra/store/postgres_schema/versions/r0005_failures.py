"""Failures and what happened to them, as SQLite has them after the third step of the traces' file."""

from alembic import op

revision = "0005"
down_revision = "0004"

STATEMENTS = (
    """
    CREATE TABLE failures (
        id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
        project_id TEXT COLLATE "C" NOT NULL,
        source_sha256 TEXT COLLATE "C" NOT NULL,
        trace_id TEXT COLLATE "C" NOT NULL,
        session_id TEXT COLLATE "C" NOT NULL,
        user_id TEXT COLLATE "C" NOT NULL,
        status TEXT COLLATE "C" NOT NULL,
        assignee TEXT COLLATE "C" NOT NULL,
        revision BIGINT NOT NULL,
        document TEXT COLLATE "C" NOT NULL,
        record TEXT COLLATE "C" NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX failures_by_source ON failures (project_id, source_sha256)",
    "CREATE INDEX failures_by_project ON failures (project_id, id)",
    "CREATE INDEX failures_by_trace ON failures (project_id, trace_id)",
    "CREATE INDEX failures_by_session ON failures (project_id, session_id)",
    "CREATE INDEX failures_by_user ON failures (project_id, user_id)",
    """
    CREATE TABLE failure_events (
        failure_id TEXT COLLATE "C" NOT NULL,
        revision BIGINT NOT NULL,
        document TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (failure_id, revision)
    )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
