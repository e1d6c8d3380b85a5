"""The one way an evaluator meets a record."""
