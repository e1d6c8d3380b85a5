"""The schema of the store in PostgreSQL: Alembic's revisions, forward only, and the one function that applies them.

It holds the same tables and columns as `migrations` gives SQLite, which a test compares. SQLite keeps its own list since
SQLAlchemy alone takes longer to import than the commands on an embedded store take to run (decision 0017).
"""

from pathlib import Path
from typing import Any

from evalsi.core.errors import NotFoundError, StoreError, StoreTooNewError

_HERE = Path(__file__).parent
_LOCK = 0x45767370
"""The advisory lock of servers that bring a schema up to date: one does, the others wait."""


def bring_up_to_date(address: str) -> None:
    """Applies the revisions that the database has not seen.

    Raises: StoreTooNewError: a later version of evalsi wrote it. StoreError: it cannot be reached or changed.
    """
    import psycopg
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(address), poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    try:
        with engine.begin() as connection:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        raise StoreTooNewError(
            f"the database was written by a later version of evalsi: {error}", hint="upgrade evalsi"
        ) from error
    except (SQLAlchemyError, psycopg.Error) as error:
        raise StoreError(f"the schema of the database cannot be brought up to date: {_reason(error)}") from error


def check_is_up_to_date(address: str) -> None:
    """Changes nothing. Raises: StoreError: the schema is not that of this version, or cannot be read."""
    import psycopg
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    newest = ScriptDirectory.from_config(config).get_current_head()
    try:
        with psycopg.connect(address, connect_timeout=5) as connection:
            if connection.execute("SELECT to_regclass('schema_revisions')").fetchone() == (None,):
                raise NotFoundError("the database holds no store", hint="'evalsi serve' makes one")
            found = connection.execute("SELECT version_num FROM schema_revisions").fetchone()
    except psycopg.Error as error:
        raise StoreError(f"the schema of the database cannot be read: {_reason(error)}") from error
    if found != (newest,):
        raise StoreError(
            f"the database has the schema {found[0] if found else 'of nobody'}, not {newest}",
            hint="use the version of evalsi that serves it, or start the server of this one first",
        )


def _reason(error: Any) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
