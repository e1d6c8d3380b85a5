"""Numbers of bytes as people read them. Its own module because every place that refuses a size says it."""


def size_text(size_bytes: int) -> str:
    """In whole MiB where there is one, else in bytes: "32 MiB", "500,000 bytes"."""
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes:,} bytes"
