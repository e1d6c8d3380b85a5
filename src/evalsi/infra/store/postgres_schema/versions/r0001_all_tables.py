"""All tables, as SQLite has them after its fourth step.

Texts sort by their bytes (COLLATE "C"), as in SQLite, so that lists have one order whatever the language of the server.
"""

from alembic import op

revision = "0001"
down_revision = None

STATEMENTS = (
    """
    CREATE TABLE runs (
        id TEXT COLLATE "C" NOT NULL,
        tenant_id TEXT COLLATE "C" NOT NULL DEFAULT 'default',
        project_id TEXT COLLATE "C" NOT NULL DEFAULT 'default',
        name TEXT COLLATE "C" NOT NULL,
        status TEXT COLLATE "C" NOT NULL,
        created_at TEXT COLLATE "C" NOT NULL,
        created_us BIGINT NOT NULL,
        finished_at TEXT COLLATE "C",
        dataset TEXT COLLATE "C" NOT NULL,
        dataset_digest TEXT COLLATE "C" NOT NULL,
        fingerprint TEXT COLLATE "C" NOT NULL,
        rows BIGINT NOT NULL DEFAULT 0,
        labels TEXT COLLATE "C" NOT NULL,
        headline TEXT COLLATE "C" NOT NULL,
        writer_token TEXT COLLATE "C",
        writer TEXT COLLATE "C",
        heartbeat_us BIGINT,
        verdict TEXT COLLATE "C" NOT NULL DEFAULT '',
        archived_at TEXT COLLATE "C",
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE run_documents (
        run_id TEXT COLLATE "C" NOT NULL,
        manifest TEXT COLLATE "C" NOT NULL,
        summaries TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (run_id)
    )
    """,
    """
    CREATE TABLE segments (
        run_id TEXT COLLATE "C" NOT NULL,
        idx BIGINT NOT NULL,
        first_row BIGINT NOT NULL,
        rows BIGINT NOT NULL,
        results BYTEA NOT NULL,
        records BYTEA NOT NULL,
        PRIMARY KEY (run_id, idx)
    )
    """,
    """
    CREATE TABLE answers (
        run_id TEXT COLLATE "C" NOT NULL,
        row BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (run_id, row)
    )
    """,
    """
    CREATE TABLE projects (
        name TEXT COLLATE "C" NOT NULL,
        tenant_id TEXT COLLATE "C" NOT NULL DEFAULT 'default',
        description TEXT COLLATE "C" NOT NULL,
        created_at TEXT COLLATE "C" NOT NULL,
        created_by TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE api_keys (
        name TEXT COLLATE "C" NOT NULL,
        digest TEXT COLLATE "C" NOT NULL UNIQUE,
        prefix TEXT COLLATE "C" NOT NULL,
        roles TEXT COLLATE "C" NOT NULL,
        labels TEXT COLLATE "C" NOT NULL,
        created_at TEXT COLLATE "C" NOT NULL,
        created_by TEXT COLLATE "C" NOT NULL,
        expires_at TEXT COLLATE "C",
        last_used_at TEXT COLLATE "C",
        revoked_at TEXT COLLATE "C",
        PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE role_bindings (
        project TEXT COLLATE "C" NOT NULL,
        role TEXT COLLATE "C" NOT NULL,
        subject TEXT COLLATE "C" NOT NULL,
        created_at TEXT COLLATE "C" NOT NULL,
        created_by TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (project, role, subject)
    )
    """,
    """
    CREATE TABLE audit (
        sequence BIGINT NOT NULL,
        time TEXT COLLATE "C" NOT NULL,
        project TEXT COLLATE "C" NOT NULL,
        action TEXT COLLATE "C" NOT NULL,
        allowed BIGINT NOT NULL,
        body TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (sequence)
    )
    """,
    """
    CREATE TABLE audit_head (
        id BIGINT NOT NULL,
        last_sequence BIGINT NOT NULL,
        last_hash TEXT COLLATE "C" NOT NULL,
        base_sequence BIGINT NOT NULL,
        base_hash TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE run_labels (
        run_id TEXT COLLATE "C" NOT NULL,
        key TEXT COLLATE "C" NOT NULL,
        value TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (run_id, key)
    )
    """,
    """
    CREATE TABLE segment_zones (
        run_id TEXT COLLATE "C" NOT NULL,
        idx BIGINT NOT NULL,
        zones BYTEA NOT NULL,
        PRIMARY KEY (run_id, idx)
    )
    """,
    """
    CREATE TABLE run_queue (
        run_id TEXT COLLATE "C" NOT NULL,
        project_id TEXT COLLATE "C" NOT NULL,
        state TEXT COLLATE "C" NOT NULL,
        priority BIGINT NOT NULL,
        submitted_us BIGINT NOT NULL,
        created_by TEXT COLLATE "C" NOT NULL,
        request_key TEXT COLLATE "C",
        request_digest TEXT COLLATE "C" NOT NULL,
        holder TEXT COLLATE "C",
        lease_token TEXT COLLATE "C",
        lease_until_us BIGINT,
        claimed_us BIGINT,
        claimed_done BIGINT NOT NULL DEFAULT 0,
        crashes BIGINT NOT NULL DEFAULT 0,
        cancelling BIGINT NOT NULL DEFAULT 0,
        progress TEXT COLLATE "C",
        error TEXT COLLATE "C" NOT NULL DEFAULT '',
        PRIMARY KEY (run_id)
    )
    """,
    """
    CREATE TABLE usage_days (
        project_id TEXT COLLATE "C" NOT NULL,
        day TEXT COLLATE "C" NOT NULL,
        target_tokens BIGINT NOT NULL DEFAULT 0,
        judge_tokens BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (project_id, day)
    )
    """,
    """
    CREATE TABLE dataset_versions (
        project_id TEXT COLLATE "C" NOT NULL,
        name TEXT COLLATE "C" NOT NULL,
        version TEXT COLLATE "C" NOT NULL,
        number BIGINT NOT NULL,
        sha256 TEXT COLLATE "C" NOT NULL,
        content_sha256 TEXT COLLATE "C" NOT NULL,
        body_key TEXT COLLATE "C" NOT NULL,
        owner TEXT COLLATE "C" NOT NULL,
        state TEXT COLLATE "C" NOT NULL,
        published_us BIGINT NOT NULL,
        document TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (project_id, name, version)
    )
    """,
    """
    CREATE TABLE dataset_events (
        project_id TEXT COLLATE "C" NOT NULL,
        name TEXT COLLATE "C" NOT NULL,
        version TEXT COLLATE "C" NOT NULL,
        revision BIGINT NOT NULL,
        document TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (project_id, name, version, revision)
    )
    """,
    "CREATE INDEX runs_by_time ON runs (project_id, created_us, id)",
    "CREATE INDEX runs_by_fingerprint ON runs (project_id, fingerprint, created_us, id)",
    "CREATE INDEX runs_by_name ON runs (project_id, name, created_us, id)",
    "CREATE INDEX audit_by_project ON audit (project, sequence)",
    "CREATE INDEX run_queue_by_state ON run_queue (state, project_id)",
    "CREATE UNIQUE INDEX run_queue_by_request ON run_queue (project_id, request_key)",
    "CREATE INDEX dataset_versions_by_time ON dataset_versions (published_us, project_id, name, version)",
    """
    INSERT INTO projects (name, description, created_at, created_by)
    VALUES ('default', 'Where everything is that names no project',
        to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'evalsi')
    """,
    "INSERT INTO audit_head VALUES (1, 0, '', 0, '')",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
