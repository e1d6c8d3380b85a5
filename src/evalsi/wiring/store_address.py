"""Which database a server keeps everything in. Its own module because its runs, its doors and the command line must agree."""

from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings


def store_address(server: ServerSettings, settings: Settings) -> str:
    """Path of a SQLite file, or address of a PostgreSQL database with its password.

    Raises: UsageError: the environment variable that holds the address is not set.
    """
    postgres = server.storage.postgres
    if postgres is None:
        return str(settings.database.absolute())
    return settings.secret(postgres.dsn_env) if postgres.dsn_env else postgres.dsn
