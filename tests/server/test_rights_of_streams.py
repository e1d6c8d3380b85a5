"""A stream may outlive the key or role that it was begun with; what it shows and takes then must not."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.access.caller import Caller
from evalsi.core.errors import EvalsiError, ForbiddenError, UnauthenticatedError
from evalsi.schema import (
    APIKey,
    CreateAPIKeyRequest,
    CreateBindingRequest,
    CreateBindingResponse,
    CreateProjectRequest,
    DatasetUploadConfig,
    DeleteBindingRequest,
    RevokeAPIKeyRequest,
    RoleBinding,
    RoleList,
    TraceSummary,
    UploadDatasetVersionRequest,
    UploadDatasetVersionResponse,
    WatchTracesRequest,
    WatchTracesResponse,
)
from evalsi.server.calls import Arrival, Door
from evalsi.server.journal import Journal
from evalsi.server.measures import Measures
from evalsi.server.served_method import ServedMethod, served_methods
from tests.access.calling import OWNER, Office, an_office


class Traffic:
    service = "TraceService"

    async def watch_traces(self, request: WatchTracesRequest, caller: Caller) -> AsyncGenerator[WatchTracesResponse]:
        del request, caller
        for number in range(3):
            yield WatchTracesResponse(trace=TraceSummary(trace_id=str(number)))


class Uploads:
    service = "DatasetCatalogService"

    def __init__(self) -> None:
        self.taken = 0

    async def upload_dataset_version(
        self, requests: AsyncIterator[UploadDatasetVersionRequest], caller: Caller
    ) -> UploadDatasetVersionResponse:
        del caller
        async for _ in requests:
            self.taken += 1
        return UploadDatasetVersionResponse()


def a_door(office: Office, *, admitted_for_s: float) -> Door:
    return Door(
        authenticator=office.authenticator,
        admission=office.guard,
        measures=Measures(list),
        journal=Journal(write=lambda _line: None),
        admitted_for_s=admitted_for_s,
    )


def method(service: Any, name: str) -> ServedMethod:
    return next(served for served in served_methods([service]) if served.short_name == name)


async def a_key(office: Office, role: str) -> Arrival:
    request = CreateAPIKeyRequest(name="ci", roles={"default": RoleList(roles=[role])})
    made = await office.call("CreateAPIKey", request, OWNER)
    assert isinstance(made.key, APIKey)
    return Arrival(headers={"authorization": f"Bearer {made.secret}"}, request_id="r-1", protocol="grpc")


async def revoked(office: Office) -> None:
    await office.call("RevokeAPIKey", RevokeAPIKeyRequest(name="ci"), OWNER)


async def seen(office: Office, arrival: Arrival, then: Any, *, admitted_for_s: float = 0.0) -> list[str]:
    """The traces that a stream shows when `then` happens after its first; a refusal is the last of them."""
    found: list[str] = []
    door = a_door(office, admitted_for_s=admitted_for_s)
    try:
        async for answer in door.stream(method(Traffic(), "TraceService.WatchTraces"), WatchTracesRequest(), arrival):
            found.append(answer.trace.trace_id)  # pyright: ignore[reportAttributeAccessIssue]
            if len(found) == 1:
                await then
    except EvalsiError as error:
        found.append(error.code)
    return found


def test_a_revoked_key_is_shown_nothing_more_by_a_stream_that_it_began(tmp_path: Path) -> None:
    async def watch() -> list[str]:
        with an_office(tmp_path) as office:
            return await seen(office, await a_key(office, "viewer"), revoked(office))

    assert asyncio.run(watch()) == ["0", UnauthenticatedError.code]


def test_who_loses_a_role_in_one_project_is_not_shown_it_by_a_stream_over_all(tmp_path: Path) -> None:
    async def watch() -> list[str]:
        with an_office(tmp_path) as office:
            arrival = await a_key(office, "viewer")
            await office.call("CreateProject", CreateProjectRequest(name="billing"), OWNER)
            other = RoleBinding(project="billing", role="viewer", subject="key:ci")
            bound = await office.call("CreateBinding", CreateBindingRequest(binding=other), OWNER)
            assert isinstance(bound, CreateBindingResponse)
            lost = office.call("DeleteBinding", DeleteBindingRequest(binding=other), OWNER)
            return await seen(office, arrival, lost)

    assert asyncio.run(watch()) == ["0", ForbiddenError.code]


def test_a_caller_is_not_looked_up_for_every_message_of_a_stream(tmp_path: Path) -> None:
    async def watch() -> list[str]:
        with an_office(tmp_path) as office:
            return await seen(office, await a_key(office, "viewer"), revoked(office), admitted_for_s=60)

    assert asyncio.run(watch()) == ["0", "1", "2"]


def test_a_revoked_key_sends_nothing_more_into_a_stream_that_it_began(tmp_path: Path) -> None:
    async def upload() -> int:
        with an_office(tmp_path) as office:
            arrival, uploads = await a_key(office, "editor"), Uploads()

            async def requests() -> AsyncIterator[UploadDatasetVersionRequest]:
                yield UploadDatasetVersionRequest(config=DatasetUploadConfig(name="cases"))
                await revoked(office)
                yield UploadDatasetVersionRequest(chunk=b"{}")

            with pytest.raises(UnauthenticatedError):
                await a_door(office, admitted_for_s=0).gather(
                    method(uploads, "DatasetCatalogService.UploadDatasetVersion"), requests(), arrival
                )
            return uploads.taken

    assert asyncio.run(upload()) == 1


def test_a_stream_that_is_asked_about_again_is_in_the_audit_log_once(tmp_path: Path) -> None:
    async def upload() -> list[str]:
        with an_office(tmp_path) as office:
            arrival, uploads = await a_key(office, "editor"), Uploads()

            async def requests() -> AsyncIterator[UploadDatasetVersionRequest]:
                yield UploadDatasetVersionRequest(config=DatasetUploadConfig(name="cases"))
                for _ in range(3):
                    yield UploadDatasetVersionRequest(chunk=b"{}")

            await a_door(office, admitted_for_s=0).gather(
                method(uploads, "DatasetCatalogService.UploadDatasetVersion"), requests(), arrival
            )
            return [event.procedure.rpartition("/")[2] for event in office.store.audit_from(0, limit=10)]

    assert asyncio.run(upload()) == ["CreateAPIKey", "UploadDatasetVersion"]
