"""The beginning of an HTTP/2 connection is read alike however it is cut, and nothing that it may hold does any harm."""

from itertools import pairwise

from hpack import Encoder
from hypothesis import given
from hypothesis import strategies as st

from evalsi.server.first_frames import PREFACE, SETTINGS, FirstFrames, WithoutFirstAcknowledgement

ACKNOWLEDGEMENT = bytes.fromhex("000000040100000000")
KINDS = (b"application/grpc", b"application/grpc+proto", b"application/grpc-web+proto", b"application/json", b"")


def frame(kind: int, flags: int, payload: bytes, stream: int = 1) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def call(kind: bytes, *, cut: int, padding: int, priority: bool) -> bytes:
    """The head of a call, in one frame or in two, with what else such frames may hold."""
    fields = [(b":method", b"POST"), (b":path", b"/x"), *([(b"content-type", kind)] if kind else [])]
    block = Encoder().encode(fields)
    first, rest = block[:cut], block[cut:]
    flags = (0x8 if padding else 0) | (0x20 if priority else 0)
    head = (bytes([padding]) if padding else b"") + (b"\0\0\0\0\x10" if priority else b"") + first + b"\0" * padding
    return frame(1, flags | (0 if rest else 0x4), head) + (frame(9, 0x4, rest) if rest else b"")


def read(sent: bytes, cuts: list[int]) -> str | None:
    frames = FirstFrames(PREFACE)
    speaker = frames.speaker()
    places = [0, *sorted({min(cut, len(sent)) for cut in cuts}), len(sent)]
    for begin, end in pairwise(places):
        if speaker is None:
            frames.add(sent[begin:end])
            speaker = frames.speaker()
    return speaker


@given(
    kind=st.sampled_from(KINDS),
    cut=st.integers(1, 60),
    padding=st.integers(0, 9),
    priority=st.booleans(),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
def test_the_content_type_of_the_first_call_decides_however_it_is_cut(
    kind: bytes, cut: int, padding: int, priority: bool, cuts: list[int]
) -> None:
    before = SETTINGS + ACKNOWLEDGEMENT + frame(8, 0, b"\0\0\1\0", 0) + frame(2, 0, b"\0\0\0\0\x10", 3)
    wanted = "grpc" if kind in KINDS[:2] else "http"
    assert read(before + call(kind, cut=cut, padding=padding, priority=priority), cuts) == wanted


@given(pings=st.lists(st.binary(min_size=8, max_size=8), max_size=4), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_a_ping_is_answered_and_says_nothing_about_who_is_called(pings: list[bytes], cuts: list[int]) -> None:
    around = [SETTINGS, frame(16, 0, b"\0\0\0\0u=1", 0), call(b"application/json", cut=5, padding=0, priority=False)]
    asked = b"".join(frame(6, 0, ping, 0) for ping in pings)
    frames = FirstFrames(PREFACE)
    sent = around[0] + asked + around[1] + asked + around[2]
    places = [0, *sorted({min(cut, len(sent)) for cut in cuts}), len(sent)]
    answered, speaker = b"", None
    for begin, end in pairwise(places):
        frames.add(sent[begin:end])
        speaker = speaker or frames.speaker()
        answered += frames.answers()
    assert speaker == "http"
    assert answered == b"".join(frame(6, 1, ping, 0) for ping in [*pings, *pings])
    assert bytes(frames.received) == PREFACE + b"".join(around)


@given(sent=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=4))
def test_whatever_else_is_sent_is_left_to_somebody_and_does_no_harm(sent: bytes, cuts: list[int]) -> None:
    assert read(sent, cuts) in (None, "grpc", "http")
    assert read(SETTINGS + frame(1, 0x4, sent), cuts) in ("grpc", "http")


@given(
    before=st.lists(st.binary(max_size=20), max_size=4),
    after=st.binary(max_size=60),
    cuts=st.lists(st.integers(0, 300), max_size=8),
)
def test_one_acknowledgement_is_held_back_and_every_other_byte_is_passed_on(
    before: list[bytes], after: bytes, cuts: list[int]
) -> None:
    kept = PREFACE + b"".join(frame(6, 0, payload, 0) for payload in before)
    sent = kept + ACKNOWLEDGEMENT + ACKNOWLEDGEMENT + after
    passing = WithoutFirstAcknowledgement()
    places = [0, *sorted({min(cut, len(sent)) for cut in cuts}), len(sent)]
    passed = b"".join(passing.pass_on(sent[a:b]) for a, b in pairwise(places))
    assert passed == kept + ACKNOWLEDGEMENT + after
