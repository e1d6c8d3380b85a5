"""What every evaluator that asks a judge shares: how a record is shown, and how verdicts become scores."""
