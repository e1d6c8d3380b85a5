"""The tables of policies in SQLite, steps of the schema of traces. A released step never changes."""

MARK_AGES: tuple[str, ...] = (
    # A mark is kept from when it was stored: a trace that was imported may have begun long before.
    "ALTER TABLE policy_marks ADD COLUMN stored_ms INTEGER NOT NULL DEFAULT 0",
    "UPDATE policy_marks SET stored_ms = at_ms",
    "DROP INDEX policy_marks_by_age",
    "CREATE INDEX policy_marks_by_age ON policy_marks (stored_ms)",
    # What sinks were told of its subject, so that they hear of what is not there any more.
    "ALTER TABLE policy_marks ADD COLUMN told BLOB",
)
"""A later step of that schema."""

POLICY_TABLES: tuple[str, ...] = (
    # What a person applied. The generation tells workers that something has changed.
    """
    CREATE TABLE policies (
        project_id TEXT NOT NULL,
        name TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (project_id, name)
    ) WITHOUT ROWID
    """,
    "CREATE TABLE policy_generation (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL)",
    "INSERT INTO policy_generation VALUES (1, 0)",
    # What a policy did with a trace or session. `counted` stays 1 once a subject has moved an alert.
    """
    CREATE TABLE policy_marks (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        subject TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        stage INTEGER NOT NULL,
        counted INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (project_id, policy, subject)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX policy_marks_by_time ON policy_marks (project_id, policy, at_ms) WHERE stage = 3",
    "CREATE INDEX policy_marks_by_age ON policy_marks (at_ms)",
    """
    CREATE TABLE policy_buckets (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        field TEXT NOT NULL,
        start_ms INTEGER NOT NULL,
        metric TEXT NOT NULL,
        value TEXT NOT NULL,
        length_ms INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (project_id, policy, field, start_ms, metric, value)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX policy_buckets_by_age ON policy_buckets (length_ms, start_ms)",
    """
    CREATE TABLE policy_counts (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        field TEXT NOT NULL,
        value TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (project_id, policy, field, value)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE policy_alerts (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (project_id, policy)
    ) WITHOUT ROWID
    """,
    # Subjects that wait to be evaluated. A claim moves `due_ms` into the future.
    """
    CREATE TABLE policy_tasks (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        subject TEXT NOT NULL,
        due_ms INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        token TEXT NOT NULL,
        PRIMARY KEY (project_id, policy, subject)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX policy_tasks_by_due ON policy_tasks (due_ms)",
    """
    CREATE TABLE policy_spent (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        day TEXT NOT NULL,
        usd REAL NOT NULL,
        tokens INTEGER NOT NULL,
        unpriced INTEGER NOT NULL,
        PRIMARY KEY (project_id, policy, day)
    ) WITHOUT ROWID
    """,
    # Messages that are to be delivered, and those that were, so that none is made twice.
    """
    CREATE TABLE policy_notices (
        notice_key TEXT NOT NULL PRIMARY KEY,
        project_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        due_ms INTEGER,
        attempts INTEGER NOT NULL,
        error TEXT NOT NULL,
        body BLOB NOT NULL
    )
    """,
    "CREATE INDEX policy_notices_by_due ON policy_notices (due_ms) WHERE due_ms IS NOT NULL",
)
