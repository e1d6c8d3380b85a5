"""The services of runs and datasets, from the parts they work with."""

from typing import Any

from evalsi.server.services.dataset_catalog_service import DatasetCatalogService
from evalsi.server.services.run_service import RunService
from evalsi.wiring.run_serving import RunParts


def run_services(parts: RunParts) -> list[Any]:
    """RunService and DatasetCatalogService."""
    return [
        RunService(stores=parts.stores, clock=parts.clock, datasets=parts.datasets, most_stored=parts.most_stored),
        DatasetCatalogService(stores=parts.stores),
    ]
