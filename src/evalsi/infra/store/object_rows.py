"""Large objects as rows of the database: implements `ports.ObjectStore`.

Its own module because it is for servers that share a database and no disk or bucket: what one of them takes in, the
others must find. An object is cut into pieces, so that no row and no process holds it whole.
"""

from collections.abc import Iterator
from pathlib import Path

from evalsi.core.errors import NotFoundError
from evalsi.infra.objects import fetched
from evalsi.infra.store.transactions import SqlDatabase, Transaction

PIECE_BYTES = 1 << 20

PUT_PIECE = (
    "INSERT INTO object_pieces (object_key, idx, body) VALUES (?, ?, ?) "
    "ON CONFLICT (object_key, idx) DO UPDATE SET body = excluded.body"
)
REMOVE_FROM = "DELETE FROM object_pieces WHERE object_key = ? AND idx >= ?"
READ_PIECE = "SELECT body FROM object_pieces WHERE object_key = ? AND idx = ?"
REMOVE = "DELETE FROM object_pieces WHERE object_key = ?"


class ObjectRows:
    """Implements `ObjectStore`.

    Args:
        cache: A folder for copies, made when needed.
    """

    def __init__(self, database: SqlDatabase, cache: Path) -> None:
        self._database = database
        self._cache = cache

    def put(self, key: str, file: Path) -> None:
        def add(connection: Transaction) -> None:
            with file.open("rb") as content:
                index = 0
                # An empty object has one piece too: it is there.
                while (piece := content.read(PIECE_BYTES)) or index == 0:
                    connection.execute(PUT_PIECE, (key, index, piece))
                    index += 1
            connection.execute(REMOVE_FROM, (key, index))

        self._database.write(add, sync=True)

    def read(self, key: str) -> Iterator[bytes]:
        first = self._piece(key, 0)
        if first is None:
            raise NotFoundError(f"there is no object {key}")
        return self._pieces(key, first)

    def local_path(self, key: str) -> Path:
        return fetched(self._cache / key, lambda: self.read(key))

    def delete(self, key: str) -> None:
        self._database.write(lambda connection: connection.execute(REMOVE, (key,)).rowcount)

    def _pieces(self, key: str, first: bytes) -> Iterator[bytes]:
        index, piece = 0, first
        while True:
            yield piece
            if len(piece) < PIECE_BYTES:
                return
            index += 1
            found = self._piece(key, index)
            if found is None:
                return
            piece = found

    def _piece(self, key: str, index: int) -> bytes | None:
        rows = self._database.read(READ_PIECE, (key, index))
        return bytes(rows[0][0]) if rows else None
