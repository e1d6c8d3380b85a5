"""When feedback came, as SQLite has it."""

from alembic import op

revision = "0010"
down_revision = "0009"

STATEMENTS = (
    "ALTER TABLE trace_feedback ADD COLUMN stored_ms BIGINT NOT NULL DEFAULT 0",
    "UPDATE trace_feedback SET stored_ms = CAST(extract(epoch FROM now()) AS BIGINT) * 1000",
    "CREATE INDEX trace_feedback_by_age ON trace_feedback (project, stored_ms, id)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
