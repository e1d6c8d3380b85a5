"""Moments as access rows write them: ISO 8601 UTC with microseconds, so that texts sort as times do."""

from datetime import UTC, datetime


def instant_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def instant_of(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
