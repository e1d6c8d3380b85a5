"""CatalogService: what this installation can do.

Plugins are looked at in a worker, because importing them runs code of others; what was found is kept until the server
ends, since what is installed does not change under a running process.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from evalsi.access.caller import Caller
from evalsi.ports.worker_pool import WorkerPool
from evalsi.schema import (
    CredentialGrant,
    EvaluatorManifest,
    ListCredentialsRequest,
    ListCredentialsResponse,
    ListEvaluatorsRequest,
    ListEvaluatorsResponse,
)
from evalsi.score.grading_call import catalog_call, read_catalog

_DEADLINE_S = 60.0


class CatalogService:
    """Says what there is.

    Args:
        judges: Names of the judges there are.
        default_judge: The one used when none is named; empty when there is none.
        grants: The credentials that a project may use; None where there is no list and so no limit.
    """

    service = "CatalogService"

    def __init__(
        self,
        pool: WorkerPool,
        *,
        judges: Sequence[str] = (),
        default_judge: str = "",
        grants: Callable[[str], Sequence[CredentialGrant]] | None = None,
    ) -> None:
        self._pool = pool
        self._judges = list(judges)
        self._default_judge = default_judge
        self._grants = grants
        self._looking: asyncio.Task[list[EvaluatorManifest]] | None = None
        self.broken: Mapping[str, str] = {}
        """What is wrong with each plugin that cannot be loaded, by its name; known after the first look."""

    async def list_evaluators(self, request: ListEvaluatorsRequest, caller: Caller) -> ListEvaluatorsResponse:
        del request, caller
        return ListEvaluatorsResponse(
            evaluators=await self._manifests(), judges=self._judges, default_judge=self._default_judge
        )

    async def list_credentials(self, request: ListCredentialsRequest, caller: Caller) -> ListCredentialsResponse:
        del caller
        if self._grants is None:
            return ListCredentialsResponse(enforced=False, judges=self._judges)
        return ListCredentialsResponse(enforced=True, grants=list(self._grants(request.project)), judges=self._judges)

    async def _manifests(self) -> list[EvaluatorManifest]:
        looking = self._looking
        if looking is None or (looking.done() and (looking.cancelled() or looking.exception() is not None)):
            looking = self._looking = asyncio.get_running_loop().create_task(self._look())
        return await asyncio.shield(looking)

    async def _look(self) -> list[EvaluatorManifest]:
        found = read_catalog(await self._pool.call(catalog_call(), deadline_s=_DEADLINE_S))
        self.broken = found.broken
        return found.manifests
