"""Products of others that scores are taken to: each implements `ports.ScoreSink` over HTTP."""
