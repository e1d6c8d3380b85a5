"""Pack `core`: what an output says or holds, checked without a model. Also what it took: latency, tokens, cost."""
