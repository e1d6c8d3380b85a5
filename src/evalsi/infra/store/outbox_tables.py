"""The tables of scores on their way to sinks, for the list of steps of the file of traces."""

OUTBOX_TABLES: tuple[str, ...] = (
    # A claim moves `due_ms` into the future. version: how often something newer took its place.
    """
    CREATE TABLE policy_deliveries (
        sink TEXT NOT NULL,
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        subject TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        due_ms INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        token TEXT NOT NULL,
        version INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (sink, project_id, policy, subject)
    )
    """,
    # The time it was made stands in it, so that looking for old ones reads no row in vain.
    "CREATE INDEX policy_deliveries_by_due ON policy_deliveries (sink, due_ms, created_ms)",
    "CREATE INDEX policy_deliveries_by_subject ON policy_deliveries (project_id, subject)",
    """
    CREATE TABLE policy_sinks (
        project_id TEXT NOT NULL,
        policy TEXT NOT NULL,
        sink TEXT NOT NULL,
        waiting INTEGER NOT NULL,
        delivered INTEGER NOT NULL,
        given_up INTEGER NOT NULL,
        delivered_ms INTEGER NOT NULL,
        error TEXT NOT NULL,
        error_ms INTEGER NOT NULL,
        PRIMARY KEY (project_id, policy, sink)
    )
    """,
)
