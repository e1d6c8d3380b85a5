"""The schema of the store in PostgreSQL: Alembic's revisions, forward only, and the one function that applies them.

It holds the same tables and columns as `migrations` gives SQLite, which a test compares. SQLite keeps its own list since
SQLAlchemy alone takes longer to import than the commands on an embedded store take to run (decision 0017).
"""

from pathlib import Path
from typing import Any

from evalsi.core.errors import StoreError, StoreTooNewError

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


def _reason(error: Any) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
