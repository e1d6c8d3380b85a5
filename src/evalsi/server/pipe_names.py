"""Names for the pipes between the port and gRPC, so that gRPC's side knows who stands at the other end.

Its own module because the port and gRPC meet nowhere else: gRPC sees a unix socket, and all that it tells of its peer is
the path that the peer bound itself to. What always holds: a name is known exactly as long as its connection.
"""

import asyncio
import socket
from itertools import count
from pathlib import Path


class PipeNames:
    """Gives pipes their names.

    Args:
        folder: One that nobody else may enter: who can name a socket there can claim any address.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._sources: dict[str, str] = {}

    async def connect(self, target: str, source: str) -> tuple[socket.socket, str]:
        """A socket that is connected to the one at `target` on behalf of `source`, and its name.

        Raises: OSError: nobody listens there.
        """
        name = str(next(self._numbers))
        path = self._folder / name
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.setblocking(False)
            connected.bind(str(path))
            # Known before the other side can ask.
            self._sources[name] = source
            await asyncio.get_running_loop().sock_connect(connected, target)
        except BaseException:
            self.forget(name)
            connected.close()
            raise
        finally:
            path.unlink(missing_ok=True)  # the name stays with the connection; nobody connects to it
        return connected, name

    def forget(self, name: str) -> None:
        self._sources.pop(name, None)

    def source_of(self, peer: str) -> str:
        """The address behind a peer as gRPC names it, such as "unix:/folder/7"; empty when it is not known."""
        return self._sources.get(peer.rpartition("/")[2], "")
