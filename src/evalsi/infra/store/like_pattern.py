"""The pattern of SQL's LIKE for a text that holds another. Its own module because every list that is searched must quote alike."""


def held_pattern(text: str) -> str:
    r"""Matches what holds `text`, compared with `lower(column) LIKE ? ESCAPE '\'`; what LIKE reads as its own stands for itself."""
    pattern = text.lower()
    for special in ("\\", "%", "_"):
        pattern = pattern.replace(special, f"\\{special}")
    return f"%{pattern}%"
