"""Which segments need not be read."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from evalsi.results.zones import decode_zones, encode_zones, may_hold_record
from evalsi.schema import Record

IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(st.lists(IDS, max_size=50))
def test_a_segment_may_hold_each_of_its_records(ids: list[str]) -> None:
    body = encode_zones([], [Record(id=each) for each in ids])
    assert all(may_hold_record(body, each) for each in ids)
    assert decode_zones(body) == []


def test_hardly_any_segment_is_read_for_nothing() -> None:
    bodies = [
        encode_zones([], [Record(id=f"r{row}") for row in range(first, first + 1000)])
        for first in range(0, 50_000, 1000)
    ]
    for row in (0, 999, 1000, 49_999):
        assert sum(may_hold_record(body, f"r{row}") for body in bodies) <= 2
    assert sum(may_hold_record(body, f"x{n}") for body in bodies for n in range(20)) <= 3


def test_zones_of_earlier_versions_are_read_and_rule_nothing_out() -> None:
    earlier = msgspec.msgpack.encode([["exact-match", [0, 3, 0, 0, 0], {"exact-match": (0.0, 1.0)}]])
    zones = decode_zones(earlier)
    assert zones is not None
    assert zones[0].bounds == {"exact-match": (0.0, 1.0)}
    assert may_hold_record(earlier, "anything")
    assert may_hold_record(b"", "anything")
