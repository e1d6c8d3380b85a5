"""Reading answers out of text: normal forms, final numbers, chosen letters, reasoning blocks, tokens, likeness of sequences.

Packs share it and it knows no pack. The table of what it matches is published in docs/reference/matching.md.
"""
