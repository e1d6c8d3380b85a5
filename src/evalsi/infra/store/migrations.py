"""The schema of the store as numbered steps, oldest first. The only place that creates or changes a table.

Steps go forward only. A released step never changes (a test holds its digest): what it got wrong, a later one mends.
The number of the last step a file has seen is its `PRAGMA user_version`.
"""

from typing import NamedTuple

APPLICATION_ID = 0x45767369
"""The four bytes "Evsi" in the header of every store (`PRAGMA application_id`), so that other SQLite files are told apart."""


class Migration(NamedTuple):
    """One step: statements run in order, all steps of an opening in one transaction."""

    version: int
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        (
            # created_us orders runs: ISO texts with and without fractions of a second do not sort by time.
            # tenant_id is reserved. The last three say who appends: the store object, its process, its last sign of life.
            """
            CREATE TABLE runs (
                id TEXT NOT NULL PRIMARY KEY,
                tenant_id TEXT NOT NULL DEFAULT 'default',
                project_id TEXT NOT NULL DEFAULT 'default',
                name TEXT NOT NULL,
                status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'interrupted', 'error')),
                created_at TEXT NOT NULL,
                created_us INTEGER NOT NULL,
                finished_at TEXT,
                dataset TEXT NOT NULL,
                dataset_digest TEXT NOT NULL,
                fingerprint TEXT NOT NULL,
                rows INTEGER NOT NULL DEFAULT 0,
                labels TEXT NOT NULL,
                headline TEXT NOT NULL,
                writer_token TEXT,
                writer TEXT,
                heartbeat_us INTEGER
            )
            """,
            "CREATE INDEX runs_by_time ON runs (project_id, created_us, id)",
            "CREATE INDEX runs_by_fingerprint ON runs (project_id, fingerprint, created_us, id)",
            "CREATE INDEX runs_by_name ON runs (project_id, name, created_us, id)",
            # Apart from runs, so that a list of runs reads no documents.
            """
            CREATE TABLE run_documents (
                run_id TEXT NOT NULL PRIMARY KEY,
                manifest TEXT NOT NULL,
                summaries TEXT NOT NULL
            )
            """,
            # A rowid table: bodies in an index b-tree would be slow. Results stand before records because SQLite
            # walks through a large column to reach the one after it, and most readers want results alone.
            """
            CREATE TABLE segments (
                run_id TEXT NOT NULL,
                idx INTEGER NOT NULL,
                first_row INTEGER NOT NULL,
                rows INTEGER NOT NULL,
                results BLOB NOT NULL,
                records BLOB NOT NULL,
                PRIMARY KEY (run_id, idx)
            )
            """,
        ),
    ),
    Migration(
        2,
        (
            # What a target answered, kept the moment it came: a killed run asks nothing twice. A row is a case and trial.
            """
            CREATE TABLE answers (
                run_id TEXT NOT NULL,
                row INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (run_id, row)
            )
            """,
        ),
    ),
    Migration(
        3,
        (
            # Who may do what on a server. Of a key only its digest is here. tenant_id is reserved.
            """
            CREATE TABLE projects (
                name TEXT NOT NULL PRIMARY KEY,
                tenant_id TEXT NOT NULL DEFAULT 'default',
                description TEXT NOT NULL,
                created_at TEXT NOT NULL,
                created_by TEXT NOT NULL
            )
            """,
            """
            INSERT INTO projects (name, description, created_at, created_by)
            VALUES ('default', 'Where everything is that names no project', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'evalsi')
            """,
            """
            CREATE TABLE api_keys (
                name TEXT NOT NULL PRIMARY KEY,
                digest TEXT NOT NULL UNIQUE,
                prefix TEXT NOT NULL,
                roles TEXT NOT NULL,
                labels TEXT NOT NULL,
                created_at TEXT NOT NULL,
                created_by TEXT NOT NULL,
                expires_at TEXT,
                last_used_at TEXT,
                revoked_at TEXT
            )
            """,
            """
            CREATE TABLE role_bindings (
                project TEXT NOT NULL,
                role TEXT NOT NULL,
                subject TEXT NOT NULL,
                created_at TEXT NOT NULL,
                created_by TEXT NOT NULL,
                PRIMARY KEY (project, role, subject)
            )
            """,
            # Entries are written once. The columns beside the body are those that lists filter by.
            """
            CREATE TABLE audit (
                sequence INTEGER NOT NULL PRIMARY KEY,
                time TEXT NOT NULL,
                project TEXT NOT NULL,
                action TEXT NOT NULL,
                allowed INTEGER NOT NULL,
                body TEXT NOT NULL
            )
            """,
            "CREATE INDEX audit_by_project ON audit (project, sequence)",
            # One row: the end of the chain, kept apart so that cutting off the end of the log shows.
            """
            CREATE TABLE audit_head (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                last_sequence INTEGER NOT NULL,
                last_hash TEXT NOT NULL,
                base_sequence INTEGER NOT NULL,
                base_hash TEXT NOT NULL
            )
            """,
            "INSERT INTO audit_head VALUES (1, 0, '', 0, '')",
        ),
    ),
    Migration(
        4,
        (
            # How a run ended, and what a server keeps of runs: out of lists, waiting, in somebody's hands.
            "ALTER TABLE runs ADD COLUMN verdict TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE runs ADD COLUMN archived_at TEXT",
            # Labels stand in the run for who reads it, and here for who looks for it.
            """
            CREATE TABLE run_labels (
                run_id TEXT NOT NULL,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (run_id, key)
            ) WITHOUT ROWID
            """,
            "INSERT INTO run_labels SELECT runs.id, each.key, each.value FROM runs, json_each(runs.labels) AS each",
            # Apart from segments, so that a search reads no bodies.
            """
            CREATE TABLE segment_zones (
                run_id TEXT NOT NULL,
                idx INTEGER NOT NULL,
                zones BLOB NOT NULL,
                PRIMARY KEY (run_id, idx)
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE run_queue (
                run_id TEXT NOT NULL PRIMARY KEY,
                project_id TEXT NOT NULL,
                state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'failed', 'cancelled')),
                priority INTEGER NOT NULL,
                submitted_us INTEGER NOT NULL,
                created_by TEXT NOT NULL,
                request_key TEXT,
                request_digest TEXT NOT NULL,
                holder TEXT,
                lease_token TEXT,
                lease_until_us INTEGER,
                claimed_us INTEGER,
                claimed_done INTEGER NOT NULL DEFAULT 0,
                crashes INTEGER NOT NULL DEFAULT 0,
                cancelling INTEGER NOT NULL DEFAULT 0,
                progress TEXT,
                error TEXT NOT NULL DEFAULT ''
            ) WITHOUT ROWID
            """,
            "CREATE INDEX run_queue_by_state ON run_queue (state, project_id)",
            "CREATE UNIQUE INDEX run_queue_by_request ON run_queue (project_id, request_key)",
            """
            CREATE TABLE usage_days (
                project_id TEXT NOT NULL,
                day TEXT NOT NULL,
                target_tokens INTEGER NOT NULL DEFAULT 0,
                judge_tokens INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (project_id, day)
            ) WITHOUT ROWID
            """,
            # Datasets on a server. The document is the version without its records, which are an object of their own.
            """
            CREATE TABLE dataset_versions (
                project_id TEXT NOT NULL,
                name TEXT NOT NULL,
                version TEXT NOT NULL,
                number INTEGER NOT NULL,
                sha256 TEXT NOT NULL,
                content_sha256 TEXT NOT NULL,
                body_key TEXT NOT NULL,
                owner TEXT NOT NULL,
                state TEXT NOT NULL,
                published_us INTEGER NOT NULL,
                document TEXT NOT NULL,
                PRIMARY KEY (project_id, name, version)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX dataset_versions_by_time ON dataset_versions (published_us, project_id, name, version)",
            """
            CREATE TABLE dataset_events (
                project_id TEXT NOT NULL,
                name TEXT NOT NULL,
                version TEXT NOT NULL,
                revision INTEGER NOT NULL,
                document TEXT NOT NULL,
                PRIMARY KEY (project_id, name, version, revision)
            ) WITHOUT ROWID
            """,
        ),
    ),
    Migration(
        5,
        (
            # What was answered under an Idempotency-Key, of which only the digest is here.
            """
            CREATE TABLE kept_answers (
                method TEXT NOT NULL,
                caller TEXT NOT NULL,
                key_digest TEXT NOT NULL,
                request_digest TEXT NOT NULL,
                answered_us INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (method, caller, key_digest)
            )
            """,
            "CREATE INDEX kept_answers_by_time ON kept_answers (answered_us)",
            # Large objects, where no other place for them is named and servers share the database.
            """
            CREATE TABLE object_pieces (
                object_key TEXT NOT NULL,
                idx INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (object_key, idx)
            )
            """,
        ),
    ),
    Migration(
        6,
        (
            # How far each sink has the audit log. A claim moves `due_ms` into the future.
            """
            CREATE TABLE audit_places (
                sink TEXT NOT NULL PRIMARY KEY,
                sent_sequence INTEGER NOT NULL,
                due_ms INTEGER NOT NULL,
                token TEXT NOT NULL,
                delivered INTEGER NOT NULL,
                given_up INTEGER NOT NULL,
                delivered_ms INTEGER NOT NULL,
                error TEXT NOT NULL,
                error_ms INTEGER NOT NULL
            )
            """,
        ),
    ),
)
