"""What the sinks in the settings of a server say about themselves: name, address, whose scores go there.

Its own module because reading the file, the rights of projects and the wiring ask the same, and the kinds say it in keys of
their own, which are those of the published interface.
"""

from collections.abc import Iterable

from evalsi.settings.server import SINK_KINDS, ServerSettings, SinkSettings


def kinds_of(sink: SinkSettings) -> list[str]:
    """Which of the kinds it says; exactly one in settings that were checked."""
    return [kind for kind in SINK_KINDS if getattr(sink, kind) is not None]


def sink_name(sink: SinkSettings) -> str:
    """What policies call it."""
    return sink.name or "".join(kinds_of(sink))


def sink_address(sink: SinkSettings) -> str:
    """The address that paths of its kind are below; of a webhook, the address itself."""
    if sink.webhook is not None:
        return sink.webhook.url
    if sink.otel is not None:
        return sink.otel.endpoint.rstrip("/").removesuffix("/v1/logs")
    written = ""
    if sink.mlflow is not None:
        written = sink.mlflow.tracking_uri
    elif sink.langfuse is not None:
        written = sink.langfuse.host
    elif sink.phoenix is not None:
        written = sink.phoenix.endpoint
    return written.rstrip("/")


def takes_all(sink: SinkSettings) -> bool:
    """Whether scores of every policy go there, and not only of those that name it."""
    parts = (sink.otel, sink.mlflow, sink.langfuse, sink.phoenix, sink.webhook)
    return any(part.trace_feedback for part in parts if part is not None)


def sinks_for(settings: ServerSettings, project: str) -> tuple[str, ...]:
    """Names of the sinks that policies and runs of `project` may use."""
    return tuple(sink_name(sink) for sink in settings.sinks if not sink.projects or project in sink.projects)


def sinks_of_run(settings: ServerSettings, project: str, named: Iterable[str]) -> tuple[str, ...]:
    """Names of the sinks that scores of a run go to: those that it names, and those that take the scores of every run."""
    allowed = sinks_for(settings, project)
    taking = [sink_name(sink) for sink in settings.sinks if sink.runs]
    return tuple(name for name in dict.fromkeys([*named, *taking]) if name in allowed)
