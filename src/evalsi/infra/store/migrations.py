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
)
