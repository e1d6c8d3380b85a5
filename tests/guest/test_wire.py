"""What travels between a sandbox and its host comes back equal, and hostile bytes are an error and nothing else."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.guest import wire

ATOMS = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.binary(max_size=50)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
)
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=5), max_leaves=20).filter(
    lambda value: depth(value) <= 8
)


def depth(value: wire.Value) -> int:
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(VALUES)
def test_every_value_comes_back_as_it_was(value: wire.Value) -> None:
    packed = wire.frame(value)
    assert wire.HEADER.unpack(packed[:4])[0] == len(packed) - 4
    assert wire.parse(packed[4:]) == value


@given(st.binary(max_size=200))
def test_hostile_bytes_are_a_wire_error_or_a_value(data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.parse(data)


@given(VALUES, st.data())
def test_a_message_that_was_cut_is_a_wire_error(value: wire.Value, data: st.DataObject) -> None:
    packed = wire.body(value)
    end = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(wire.WireError):
        wire.parse(packed[:end])


def test_a_length_that_promises_more_than_there_is_takes_no_memory() -> None:
    for kind in (b"b", b"s", b"l"):
        with pytest.raises(wire.WireError):
            wire.parse(kind + b"\xff\xff\xff\xff")


def test_lists_in_lists_without_end_are_refused() -> None:
    with pytest.raises(wire.WireError, match="deep"):
        wire.parse(b"l\x01\x00\x00\x00" * 5000 + b"n")
