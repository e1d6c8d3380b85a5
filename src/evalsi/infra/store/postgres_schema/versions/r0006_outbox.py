"""Scores on their way to sinks, as SQLite has them beside its traces."""

from alembic import op

revision = "0006"
down_revision = "0005"

STATEMENTS = (
    """
    CREATE TABLE policy_deliveries (
        sink TEXT COLLATE "C" NOT NULL,
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        subject TEXT COLLATE "C" NOT NULL,
        created_ms BIGINT NOT NULL,
        due_ms BIGINT NOT NULL,
        attempts BIGINT NOT NULL,
        token TEXT COLLATE "C" NOT NULL,
        version BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (sink, project_id, policy, subject)
    )
    """,
    "CREATE INDEX policy_deliveries_by_due ON policy_deliveries (sink, due_ms, created_ms)",
    "CREATE INDEX policy_deliveries_by_subject ON policy_deliveries (project_id, subject)",
    """
    CREATE TABLE policy_sinks (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        sink TEXT COLLATE "C" NOT NULL,
        waiting BIGINT NOT NULL,
        delivered BIGINT NOT NULL,
        given_up BIGINT NOT NULL,
        delivered_ms BIGINT NOT NULL,
        error TEXT COLLATE "C" NOT NULL,
        error_ms BIGINT NOT NULL,
        PRIMARY KEY (project_id, policy, sink)
    )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
