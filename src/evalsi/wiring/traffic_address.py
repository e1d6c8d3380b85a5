"""Where an app sends its traffic, from the settings. Its own module because logging and tracing must agree."""

from evalsi.client.server_address import ServerAddress
from evalsi.settings import Settings

USUAL_SERVER = "http://127.0.0.1:8080"


def traffic_address(settings: Settings, *, endpoint: str = "", project: str = "", api_key: str = "") -> ServerAddress:
    """What is given, else what the settings name, else the server that `evalsi serve` starts on this machine."""
    url = (endpoint or settings.server or USUAL_SERVER).rstrip("/").removesuffix("/v1/traces")
    return ServerAddress(
        url=url,
        api_key=api_key or settings.api_key,
        proxy=settings.proxy_for(url),
        project=project or settings.project,
    )
