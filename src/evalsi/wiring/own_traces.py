"""Spans of our own work, where the operator wants them.

Its own module because every process begins with it, and most do without.
"""

from importlib.util import find_spec

from evalsi.core.errors import MissingExtraError
from evalsi.core.own_traces import trace_with
from evalsi.settings import Settings


def trace_own_work(settings: Settings, part: str) -> None:
    """Has spans of this process sent to the receiver that the settings name; without one nothing happens.

    Args:
        part: Which of our processes this is.
    Raises: MissingExtraError: the SDK is not installed.
    """
    endpoint = settings.trace_endpoint
    if not endpoint:
        return
    if find_spec("opentelemetry.exporter") is None or find_spec("opentelemetry.sdk") is None:
        raise MissingExtraError("traces of evalsi's own work", "otel")
    from evalsi.infra.open_telemetry import OpenTelemetry

    trace_with(OpenTelemetry(endpoint, part))
