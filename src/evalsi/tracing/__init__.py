"""Traces of an app that OpenTelemetry traces already: `evalsi.tracing.register()` sends them to a server of evalsi as well."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

__all__ = ["register"]


def register(endpoint: str = "", *, project: str = "", api_key: str = "", service: str = "") -> "TracerProvider":
    """Sends every span that ends from now on to a server of evalsi, besides wherever it goes today.

    The app never waits: spans wait in a bounded queue, are sent from a thread, and are dropped and counted when the server
    is away for long. What is left is sent when the process ends; a forked child sends its own. Registering the same
    server twice is once.

    Args:
        endpoint: Address of the server; by default EVALSI_SERVER, else the one that `evalsi serve` starts on this machine.
        project: Project of the traces; by default EVALSI_PROJECT, else that of the key.
        api_key: The key; by default EVALSI_API_KEY.
        service: Name of the app; used only where no provider is set up yet.

    Returns:
        The provider that the app uses; a new one where it had none.

    Raises:
        MissingExtraError: the extra `otel` is not installed.
        UsageError: the endpoint is no address.
    """
    from evalsi.core.extra_needed import extra_needed

    with extra_needed("sending OpenTelemetry's spans", "otel"):
        from evalsi.tracing.registered import registered
    return registered(endpoint=endpoint, project=project, api_key=api_key, service=service)
