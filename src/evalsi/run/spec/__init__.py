"""Run specs: reading them, and finding every mistake before anything is asked."""

from evalsi.run.spec.read_run_spec import RunDocument, read_run_spec, run_spec_schema

__all__ = ["RunDocument", "read_run_spec", "run_spec_schema"]
