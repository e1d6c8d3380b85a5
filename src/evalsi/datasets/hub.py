"""Datasets of the Hugging Face hub: `hf://owner/name?config=…&split=…`. The only source that may use the network."""

import contextlib
import importlib
import io
import logging
import socket
from collections.abc import Generator
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit
from urllib.request import getproxies

from evalsi.core.errors import InvalidDataError, InvalidSpecError, MissingExtraError, UnknownNameError
from evalsi.datasets.object_rows import Objects

_PARAMETERS = ("config", "split", "revision")


def of_hub(address: str) -> Objects:
    """One split of a dataset, loaded into the hub library's own cache.

    Args:
        address: `hf://owner/name` with the optional parameters config, split (default "test", else the only split) and
            revision.

    Raises:
        InvalidSpecError, UnknownNameError: the address cannot be read, or has a parameter that does not exist.
        MissingExtraError: the library is not installed.
        InvalidDataError: the hub cannot be reached, has no such dataset, or the dataset has no such split.
    """
    parts = urlsplit(address)
    repository = f"{parts.netloc}{parts.path}".strip("/")
    if not repository:
        raise InvalidSpecError(f"{address!r} names no dataset", hint="write hf://owner/name?split=test")
    given = parse_qs(parts.query, keep_blank_values=True)
    for name in given:
        if name not in _PARAMETERS:
            raise UnknownNameError("parameter of hf://", name, _PARAMETERS)
    chosen = {name: values[-1] for name, values in given.items() if values[-1]}
    try:
        hub_library: Any = importlib.import_module("datasets")
        switches: Any = importlib.import_module("huggingface_hub.constants")
    except ImportError:
        raise MissingExtraError("reading hf:// datasets", "hf") from None
    switches.HF_HUB_DISABLE_TELEMETRY = True  # the hub hears what is fetched and no more
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # its retries are not ours to tell
    try:
        with (
            contextlib.redirect_stderr(io.StringIO()),  # its progress bars are not ours to show
            _knowing_whether_it_can_be_reached(hub_library.config, switches),
        ):
            loaded: Any = hub_library.load_dataset(
                repository, chosen.get("config"), split=chosen.get("split"), revision=chosen.get("revision")
            )
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InvalidDataError(
            f"cannot be loaded: {first_line}",
            where=address,
            hint="check the name, the split and the network; a dataset that is already cached loads without one",
        ) from error
    return _one_split(loaded, address)


@contextlib.contextmanager
def _knowing_whether_it_can_be_reached(*switches: Any) -> Generator[None]:
    """Has the library look into its cache at once where the hub has no address from here: it would try for half a minute."""
    before = [each.HF_HUB_OFFLINE for each in switches]
    endpoint: str = switches[-1].ENDPOINT
    try:
        if not getproxies().keys() - {"no"}:  # a proxy may know what we do not
            socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        for each in switches:
            each.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for each, was in zip(switches, before, strict=True):
            each.HF_HUB_OFFLINE = was


def _one_split(loaded: Any, address: str) -> Objects:
    columns: Any = getattr(loaded, "column_names", None)
    if isinstance(columns, list):
        return Objects(name=address, items=lambda: loaded, columns=cast("list[str]", columns))
    splits = [str(name) for name in loaded]
    split = "test" if "test" in splits else splits[0] if len(splits) == 1 else None
    if split is None:
        raise InvalidDataError(
            f"has the splits {', '.join(splits)}", where=address, hint="choose one with ?split=" + splits[0]
        )
    return _one_split(loaded[split], address)
