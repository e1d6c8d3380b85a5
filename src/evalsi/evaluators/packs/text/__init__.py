"""Pack `text`: how much an output shares with its references, by the field's standard measures.

BLEU, chrF and TER are sacrebleu's; ROUGE equals the reference implementation on Latin text and works in every script.
"""
