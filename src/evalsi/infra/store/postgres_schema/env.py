"""What Alembic runs to apply revisions: on the connection, and in the transaction, that it is handed."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="schema_revisions")
with context.begin_transaction():
    context.run_migrations()
