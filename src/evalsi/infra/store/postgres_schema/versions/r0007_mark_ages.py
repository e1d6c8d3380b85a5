"""When marks were stored, and what sinks were told of their subjects, as SQLite has them beside its traces."""

from alembic import op

revision = "0007"
down_revision = "0006"

STATEMENTS = (
    "ALTER TABLE policy_marks ADD COLUMN stored_ms BIGINT NOT NULL DEFAULT 0",
    "UPDATE policy_marks SET stored_ms = at_ms",
    "DROP INDEX policy_marks_by_age",
    "CREATE INDEX policy_marks_by_age ON policy_marks (stored_ms)",
    "ALTER TABLE policy_marks ADD COLUMN told BYTEA",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
