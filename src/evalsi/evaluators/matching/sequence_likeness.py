"""Longest common subsequence and edit distance of any two sequences, by bit-parallel arithmetic on Python integers.

Its own module because texts (fuzzy matching) and token lists (ROUGE) need the same numbers. Time is proportional to
len(a) * len(b) / 64, memory to the lengths.
"""

from collections.abc import Hashable, Sequence


def lcs_length(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".
    """
    prefix, suffix = _common_ends(a, b)
    a, b = a[prefix : len(a) - suffix], b[prefix : len(b) - suffix]
    if not a or not b:
        return prefix + suffix
    places = _places(a)
    full = (1 << len(a)) - 1
    row = full  # bit i is 0 where the row's length grows at a[i]
    for item in b:
        matches = row & places.get(item, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
    return prefix + suffix + len(a) - row.bit_count()


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and substitutions that make `b` of `a` (Levenshtein distance).

    Source: Myers (1999), "A fast bit-vector algorithm for approximate string matching", in the form of Hyyrö (2003).
    """
    prefix, suffix = _common_ends(a, b)
    a, b = a[prefix : len(a) - suffix], b[prefix : len(b) - suffix]
    if not a or not b:
        return len(a) + len(b)
    places = _places(a)
    full = (1 << len(a)) - 1
    last = 1 << (len(a) - 1)
    rises, falls, distance = full, 0, len(a)
    for item in b:
        matches = places.get(item, 0)
        diagonal = ((((matches & rises) + rises) ^ rises) | matches | falls) & full
        across_rises = falls | (full ^ (diagonal | rises))
        across_falls = rises & diagonal
        if across_rises & last:
            distance += 1
        elif across_falls & last:
            distance -= 1
        across_rises = (across_rises << 1) | 1
        across_falls <<= 1
        rises = (across_falls | (full ^ ((diagonal | across_rises) & full))) & full
        falls = across_rises & diagonal
    return distance


def indel_likeness(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """2 * LCS / (len(a) + len(b)), from 0 to 1; 1 for two empty sequences."""
    total = len(a) + len(b)
    return 2 * lcs_length(a, b) / total if total else 1.0


def edit_likeness(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """1 - distance / length of the longer, from 0 to 1; 1 for two empty sequences."""
    longer = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longer if longer else 1.0


def lcs_places(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[int]:
    """Which indices of `a` one longest common subsequence with `b` takes, ascending.

    Where several are as long, the walk back from both ends steps along `b` only if that keeps a longer subsequence
    than stepping along `a` would, which is the choice of the reference implementation of ROUGE-Lsum.
    """
    places = _places(b)
    full = (1 << len(b)) - 1
    row = full
    grows = [0]  # grows[i] has bit j set where lcs(a[:i], b[:j + 1]) exceeds lcs(a[:i], b[:j])
    for item in a:
        matches = row & places.get(item, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
        grows.append(full ^ row)
    taken: list[int] = []
    i, j = len(a), len(b)
    here = grows[i].bit_count()
    above = grows[i - 1].bit_count() if i else 0
    while i > 0 and j > 0:
        bit = 1 << (j - 1)
        if a[i - 1] == b[j - 1]:
            taken.append(i - 1)
            i -= 1
            j -= 1
        elif here - bool(grows[i] & bit) > above:
            j -= 1
            here -= bool(grows[i] & bit)
            above -= bool(grows[i - 1] & bit)
            continue
        else:
            i -= 1
        if i > 0:
            mask = (1 << j) - 1
            here = (grows[i] & mask).bit_count()
            above = (grows[i - 1] & mask).bit_count()
    taken.reverse()
    return taken


def _places(sequence: Sequence[Hashable]) -> dict[Hashable, int]:
    """Where each item stands, as the bits of one integer."""
    found: dict[Hashable, list[int]] = {}
    for index, item in enumerate(sequence):
        found.setdefault(item, []).append(index)
    size = len(sequence) // 8 + 1
    places: dict[Hashable, int] = {}
    for item, indices in found.items():
        if len(indices) * 64 < len(sequence):
            value = 0
            for index in indices:
                value |= 1 << index
        else:  # a bit set in a buffer costs the same however long the sequence is
            buffer = bytearray(size)
            for index in indices:
                buffer[index >> 3] |= 1 << (index & 7)
            value = int.from_bytes(buffer, "little")
        places[item] = value
    return places


def _common_ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int]:
    """Lengths of the prefix and of the suffix (after it) that both share; they are part of any best alignment."""
    shorter = min(len(a), len(b))
    prefix = 0
    while prefix < shorter and a[prefix] == b[prefix]:
        prefix += 1
    suffix = 0
    while suffix < shorter - prefix and a[-1 - suffix] == b[-1 - suffix]:
        suffix += 1
    return prefix, suffix
