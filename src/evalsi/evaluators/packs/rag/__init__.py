"""Pack `rag`: answers that rest on retrieved passages. Is the answer faithful to them, and were they the right ones?"""
