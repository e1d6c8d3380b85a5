"""Policies and what they found, as SQLite has them beside its traces."""

from alembic import op

revision = "0004"
down_revision = "0003"

STATEMENTS = (
    """
    CREATE TABLE policies (
        project_id TEXT COLLATE "C" NOT NULL,
        name TEXT COLLATE "C" NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (project_id, name)
    )
    """,
    "CREATE TABLE policy_generation (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), generation BIGINT NOT NULL)",
    "INSERT INTO policy_generation VALUES (1, 0)",
    """
    CREATE TABLE policy_marks (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        subject TEXT COLLATE "C" NOT NULL,
        at_ms BIGINT NOT NULL,
        revision BIGINT NOT NULL,
        stage BIGINT NOT NULL,
        counted BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (project_id, policy, subject)
    )
    """,
    "CREATE INDEX policy_marks_by_time ON policy_marks (project_id, policy, at_ms) WHERE stage = 3",
    "CREATE INDEX policy_marks_by_age ON policy_marks (at_ms)",
    """
    CREATE TABLE policy_buckets (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        field TEXT COLLATE "C" NOT NULL,
        start_ms BIGINT NOT NULL,
        metric TEXT COLLATE "C" NOT NULL,
        value TEXT COLLATE "C" NOT NULL,
        length_ms BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (project_id, policy, field, start_ms, metric, value)
    )
    """,
    "CREATE INDEX policy_buckets_by_age ON policy_buckets (length_ms, start_ms)",
    """
    CREATE TABLE policy_counts (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        field TEXT COLLATE "C" NOT NULL,
        value TEXT COLLATE "C" NOT NULL,
        count BIGINT NOT NULL,
        PRIMARY KEY (project_id, policy, field, value)
    )
    """,
    """
    CREATE TABLE policy_alerts (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (project_id, policy)
    )
    """,
    """
    CREATE TABLE policy_tasks (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        subject TEXT COLLATE "C" NOT NULL,
        due_ms BIGINT NOT NULL,
        attempts BIGINT NOT NULL,
        token TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (project_id, policy, subject)
    )
    """,
    "CREATE INDEX policy_tasks_by_due ON policy_tasks (due_ms)",
    """
    CREATE TABLE policy_spent (
        project_id TEXT COLLATE "C" NOT NULL,
        policy TEXT COLLATE "C" NOT NULL,
        day TEXT COLLATE "C" NOT NULL,
        usd DOUBLE PRECISION NOT NULL,
        tokens BIGINT NOT NULL,
        unpriced BIGINT NOT NULL,
        PRIMARY KEY (project_id, policy, day)
    )
    """,
    """
    CREATE TABLE policy_notices (
        notice_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
        project_id TEXT COLLATE "C" NOT NULL,
        created_ms BIGINT NOT NULL,
        due_ms BIGINT,
        attempts BIGINT NOT NULL,
        error TEXT NOT NULL,
        body BYTEA NOT NULL
    )
    """,
    "CREATE INDEX policy_notices_by_due ON policy_notices (due_ms) WHERE due_ms IS NOT NULL",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
