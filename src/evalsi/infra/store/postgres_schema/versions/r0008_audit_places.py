"""How far each sink has the audit log, as SQLite has it after the sixth step."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE audit_places (
            sink TEXT COLLATE "C" NOT NULL PRIMARY KEY,
            sent_sequence BIGINT NOT NULL,
            due_ms BIGINT NOT NULL,
            token TEXT COLLATE "C" NOT NULL,
            delivered BIGINT NOT NULL,
            given_up BIGINT NOT NULL,
            delivered_ms BIGINT NOT NULL,
            error TEXT COLLATE "C" NOT NULL,
            error_ms BIGINT NOT NULL
        )
        """
    )
