"""Answers kept by their Idempotency-Key, and large objects, as SQLite has them after its fifth step."""

from alembic import op

revision = "0002"
down_revision = "0001"

STATEMENTS = (
    """
    CREATE TABLE kept_answers (
        method TEXT COLLATE "C" NOT NULL,
        caller TEXT COLLATE "C" NOT NULL,
        key_digest TEXT COLLATE "C" NOT NULL,
        request_digest TEXT COLLATE "C" NOT NULL,
        answered_us BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (method, caller, key_digest)
    )
    """,
    "CREATE INDEX kept_answers_by_time ON kept_answers (answered_us)",
    """
    CREATE TABLE object_pieces (
        object_key TEXT COLLATE "C" NOT NULL,
        idx BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (object_key, idx)
    )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
