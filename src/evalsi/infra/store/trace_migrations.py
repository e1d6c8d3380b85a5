"""The schema of the file of traces as numbered steps, as `migrations` is for the store of runs.

A file of its own (decision 0026), with the same rules: steps go forward only, and a released step never changes.
Times of traces are nanoseconds (`start_ns`), those of our own clock milliseconds. `start_ns` stands in every table that
a list is read from, so that a list never sorts.
"""

from evalsi.infra.store.failure_tables import FAILURE_TABLES
from evalsi.infra.store.migrations import Migration
from evalsi.infra.store.outbox_tables import OUTBOX_TABLES
from evalsi.infra.store.policy_tables import MARK_AGES, POLICY_TABLES

TRACE_MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        (
            """
            CREATE TABLE trace_projects (
                key INTEGER NOT NULL PRIMARY KEY,
                name TEXT NOT NULL UNIQUE
            )
            """,
            # due_ms: when it is complete, NULL once it is; lease_ms and token: who is at it. evaluated: digest of the span
            # ids at the last revision. mark: the order of completion. The longest columns stand last, because SQLite
            # walks through a column to reach the one after it. results, scores and feedback repeat what other tables hold.
            """
            CREATE TABLE traces (
                key INTEGER NOT NULL PRIMARY KEY,
                project INTEGER NOT NULL,
                trace_id BLOB NOT NULL,
                start_ns INTEGER NOT NULL,
                end_ns INTEGER NOT NULL,
                duration_ns INTEGER NOT NULL,
                first_ms INTEGER NOT NULL,
                last_ms INTEGER NOT NULL,
                due_ms INTEGER,
                lease_ms INTEGER NOT NULL DEFAULT 0,
                token TEXT NOT NULL DEFAULT '',
                session_ms INTEGER NOT NULL,
                root_ended INTEGER NOT NULL,
                revision INTEGER NOT NULL DEFAULT 0,
                complete INTEGER NOT NULL DEFAULT 0,
                mark INTEGER,
                parts INTEGER NOT NULL,
                spans INTEGER NOT NULL,
                failed_spans INTEGER NOT NULL,
                error INTEGER NOT NULL,
                steps INTEGER NOT NULL DEFAULT 0,
                results INTEGER NOT NULL DEFAULT 0,
                feedback REAL,
                input_tokens INTEGER,
                output_tokens INTEGER,
                cost_usd REAL,
                service TEXT NOT NULL,
                session_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                version TEXT NOT NULL DEFAULT '',
                model TEXT NOT NULL DEFAULT '',
                name TEXT NOT NULL,
                evaluated BLOB,
                labels TEXT NOT NULL,
                scores TEXT NOT NULL DEFAULT '{}',
                keys TEXT NOT NULL DEFAULT '[]',
                input TEXT NOT NULL DEFAULT '',
                output TEXT NOT NULL DEFAULT ''
            )
            """,
            "CREATE UNIQUE INDEX traces_by_id ON traces (project, trace_id)",
            # Duration and cost stand in it, so that a search for what is long or dear looks at no row in vain.
            "CREATE INDEX traces_by_start ON traces (project, start_ns, duration_ns, cost_usd)",
            "CREATE INDEX traces_by_service ON traces (project, service, start_ns)",
            "CREATE INDEX traces_by_session ON traces (project, session_id, start_ns) WHERE session_id != ''",
            "CREATE INDEX traces_by_user ON traces (project, user_id, start_ns) WHERE user_id != ''",
            "CREATE INDEX traces_by_version ON traces (project, version, start_ns) WHERE version != ''",
            "CREATE INDEX traces_by_model ON traces (project, model, start_ns) WHERE model != ''",
            "CREATE INDEX traces_failed ON traces (project, start_ns) WHERE error = 1",
            "CREATE INDEX traces_open ON traces (project, start_ns) WHERE complete = 0",
            "CREATE INDEX traces_with_feedback ON traces (project, start_ns, feedback) WHERE feedback IS NOT NULL",
            "CREATE INDEX traces_by_arrival ON traces (project, last_ms)",
            "CREATE INDEX traces_due ON traces (due_ms) WHERE due_ms IS NOT NULL",
            "CREATE INDEX traces_by_mark ON traces (mark) WHERE mark IS NOT NULL",
            "CREATE TABLE trace_marks (id INTEGER NOT NULL PRIMARY KEY, mark INTEGER NOT NULL)",
            "INSERT INTO trace_marks VALUES (1, 0)",
            # body: OTLP, packed by zstd. digest: of the packed body.
            """
            CREATE TABLE trace_parts (
                key INTEGER NOT NULL PRIMARY KEY,
                trace INTEGER NOT NULL,
                digest BLOB NOT NULL,
                body BLOB NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX trace_parts_by_trace ON trace_parts (trace, digest)",
            """
            CREATE TABLE trace_labels (
                project INTEGER NOT NULL,
                label TEXT NOT NULL,
                start_ns INTEGER NOT NULL,
                trace INTEGER NOT NULL,
                PRIMARY KEY (project, label, start_ns, trace)
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE trace_scores (
                project INTEGER NOT NULL,
                name TEXT NOT NULL,
                start_ns INTEGER NOT NULL,
                trace INTEGER NOT NULL,
                value REAL NOT NULL,
                PRIMARY KEY (project, name, start_ns, trace)
            ) WITHOUT ROWID
            """,
            # What a policy found, packed; evaluators: their names, so that a list of one need not unpack the others.
            """
            CREATE TABLE trace_results (
                trace INTEGER NOT NULL,
                policy TEXT NOT NULL,
                project INTEGER NOT NULL,
                start_ns INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                time_us INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (trace, policy)
            )
            """,
            "CREATE INDEX trace_results_by_policy ON trace_results (project, policy, start_ns, trace)",
            "CREATE INDEX trace_results_by_start ON trace_results (project, start_ns, trace)",
            """
            CREATE TABLE trace_sessions (
                project INTEGER NOT NULL,
                session_id TEXT NOT NULL,
                due_ms INTEGER,
                lease_ms INTEGER NOT NULL DEFAULT 0,
                token TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (project, session_id)
            )
            """,
            "CREATE INDEX trace_sessions_due ON trace_sessions (due_ms) WHERE due_ms IS NOT NULL",
            """
            CREATE TABLE trace_session_results (
                project INTEGER NOT NULL,
                session_id TEXT NOT NULL,
                policy TEXT NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (project, session_id, policy)
            )
            """,
            """
            CREATE TABLE trace_keys (
                project INTEGER NOT NULL,
                sender_key TEXT NOT NULL,
                trace INTEGER NOT NULL,
                PRIMARY KEY (project, sender_key, trace)
            ) WITHOUT ROWID
            """,
            # opinion: from -1 to 1, NULL when it is neither good nor bad.
            """
            CREATE TABLE trace_feedback (
                project INTEGER NOT NULL,
                id TEXT NOT NULL,
                trace_id TEXT NOT NULL,
                sender_key TEXT NOT NULL,
                session_id TEXT NOT NULL,
                time_us INTEGER NOT NULL,
                opinion REAL,
                body BLOB NOT NULL,
                PRIMARY KEY (project, id)
            )
            """,
            "CREATE INDEX trace_feedback_by_trace ON trace_feedback (project, trace_id) WHERE trace_id != ''",
            "CREATE INDEX trace_feedback_by_key ON trace_feedback (project, sender_key) WHERE sender_key != ''",
            "CREATE INDEX trace_feedback_by_session ON trace_feedback (project, session_id) WHERE session_id != ''",
            # place: the begin of the trace in microseconds, with room below to tell those of one microsecond apart, so that
            # search finds the newest first without sorting. words: what the index holds, which is what takes it out again.
            """
            CREATE TABLE trace_texts (
                place INTEGER NOT NULL PRIMARY KEY,
                trace INTEGER NOT NULL UNIQUE,
                words BLOB NOT NULL
            )
            """,
            "CREATE VIRTUAL TABLE trace_words USING fts5(words, content='', detail=none, tokenize='ascii')",
        ),
    ),
    Migration(2, POLICY_TABLES),
    Migration(3, FAILURE_TABLES),
    Migration(4, OUTBOX_TABLES),
    Migration(5, MARK_AGES),
    # In the order of their time, so that the newest are read and no others.
    Migration(
        6,
        (
            "DROP INDEX trace_feedback_by_trace",
            "DROP INDEX trace_feedback_by_key",
            "DROP INDEX trace_feedback_by_session",
            "CREATE INDEX trace_feedback_by_trace ON trace_feedback (project, trace_id, time_us, id) WHERE trace_id != ''",
            "CREATE INDEX trace_feedback_by_key ON trace_feedback (project, sender_key, time_us, id) WHERE sender_key != ''",
            """
            CREATE INDEX trace_feedback_by_session ON trace_feedback (project, session_id, time_us, id)
            WHERE session_id != ''
            """,
        ),
    ),
    # When it came, so that what stays about nothing goes some time, and not by the time that its sender gave. 0: not known,
    # as of what a server of the version before stores meanwhile, and then it stays.
    Migration(
        7,
        (
            "ALTER TABLE trace_feedback ADD COLUMN stored_ms INTEGER NOT NULL DEFAULT 0",
            "UPDATE trace_feedback SET stored_ms = CAST(strftime('%s', 'now') AS INTEGER) * 1000",
            "CREATE INDEX trace_feedback_by_age ON trace_feedback (project, stored_ms, id)",
        ),
    ),
)
