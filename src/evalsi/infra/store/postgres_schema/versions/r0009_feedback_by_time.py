"""Feedback in the order of its time, as SQLite has it."""

from alembic import op

revision = "0009"
down_revision = "0008"

STATEMENTS = (
    "DROP INDEX trace_feedback_by_trace",
    "DROP INDEX trace_feedback_by_key",
    "DROP INDEX trace_feedback_by_session",
    "CREATE INDEX trace_feedback_by_trace ON trace_feedback (project, trace_id, time_us, id) WHERE trace_id != ''",
    "CREATE INDEX trace_feedback_by_key ON trace_feedback (project, sender_key, time_us, id) WHERE sender_key != ''",
    "CREATE INDEX trace_feedback_by_session ON trace_feedback (project, session_id, time_us, id) WHERE session_id != ''",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
