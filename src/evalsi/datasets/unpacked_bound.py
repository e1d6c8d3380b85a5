"""How much a packed file may unpack to, whatever it is packed with.

Its own module because what is sent to a server and what a Parquet file holds are bounded alike.
"""

MOST_TIMES = 200
"""Text that people evaluate packs to a fifth or a twentieth; what unpacks to so much more is made to fill a disk or a memory."""
_ALWAYS_BYTES = 256 << 20


def most_unpacked_bytes(packed_bytes: int) -> int:
    """The most that so many bytes may unpack to."""
    return max(_ALWAYS_BYTES, MOST_TIMES * packed_bytes)
