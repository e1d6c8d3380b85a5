"""API keys at the door: who gets in, for how long, and that nothing about a key is ever said."""

import asyncio
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from evalsi.access.api_key import digest_of_key, is_digest, is_key_of, looks_like_key, make_key
from evalsi.access.caller import Caller
from evalsi.access.key_authenticator import KNOWN_FOR_S, KeyAuthenticator
from evalsi.core.errors import UnauthenticatedError
from evalsi.ports.access_store import StoredKey
from evalsi.schema import APIKey, RoleBinding, RoleList
from tests.access.calling import NOON, Office, an_office


def put_key(office: Office, name: str = "ci", *, lifetime_s: float | None = None) -> str:
    made = make_key()
    ends = None if lifetime_s is None else NOON + timedelta(seconds=lifetime_s)
    key = APIKey(
        name=name,
        prefix=made.prefix,
        roles={"default": RoleList(roles=["runner"])},
        created_at=NOON,
        created_by="test",
        expires_at=ends,
        source="api",
    )
    office.store.add_key(StoredKey(digest=made.digest, key=key))
    return made.key


def enter(office: Office, **headers: str) -> Caller:
    return asyncio.run(office.authenticator.authenticate(headers, request_id="r-7", source="10.1.1.1"))


def test_a_key_opens_the_door_as_a_bearer_token_or_in_a_header_of_its_own(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        key = put_key(office)
        by_bearer = enter(office, authorization=f"Bearer {key}")
        by_header = enter(office, **{"x-api-key": key})
    assert by_bearer == by_header
    assert (by_bearer.principal, by_bearer.key_name, by_bearer.request_id) == ("key:ci", "ci", "r-7")
    assert by_bearer.has("runs.create", "default")
    assert not by_bearer.has("runs.create", "billing")
    assert key not in repr(by_bearer)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer evk_short"},
        {"authorization": "Basic evk_" + "a" * 43},
        {"authorization": "Bearer evk_" + "a" * 43},
        {"authorization": "Bearer evk_" + "a" * 100_000},
        {"authorization": "Bearer evk_" + "\u00e9" * 43},
        {"x-api-key": "sha256:" + "0" * 64},
    ],
    ids=lambda headers: repr(headers)[:40],
)
def test_whatever_is_no_good_key_is_refused_without_a_word_about_it(tmp_path: Path, headers: dict[str, str]) -> None:
    with an_office(tmp_path) as office:
        put_key(office)
        with pytest.raises(UnauthenticatedError) as refusal:
            enter(office, **headers)
    assert "aaa" not in str(refusal.value)


def test_a_digest_read_from_the_store_is_no_key(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        stolen = digest_of_key(put_key(office))
        for shown in (stolen, "evk_" + stolen.removeprefix("sha256:")):
            with pytest.raises(UnauthenticatedError):
                enter(office, authorization=f"Bearer {shown}")


def test_a_key_ends_at_its_moment_and_not_when_it_is_looked_up_again(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        key = put_key(office, lifetime_s=KNOWN_FOR_S / 2)
        enter(office, authorization=f"Bearer {key}")
        office.clock.turn(KNOWN_FOR_S / 2)
        with pytest.raises(UnauthenticatedError):
            enter(office, authorization=f"Bearer {key}")


def test_a_revoked_key_is_refused_here_at_once_and_elsewhere_soon(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        key = put_key(office)
        elsewhere = KeyAuthenticator(office.store, office.clock)
        headers = {"authorization": f"Bearer {key}"}
        asyncio.run(elsewhere.authenticate(headers))
        enter(office, **headers)
        office.store.revoke_key("ci", at=NOON)
        office.authenticator.forget()
        with pytest.raises(UnauthenticatedError):
            enter(office, **headers)
        office.clock.turn(KNOWN_FOR_S)
        with pytest.raises(UnauthenticatedError):
            asyncio.run(elsewhere.authenticate(headers))


def test_the_last_use_is_written_once_a_minute(tmp_path: Path) -> None:
    def last_use(office: Office) -> float:
        used = office.store.api_keys()[0].key.last_used_at
        assert used is not None
        return (used - NOON).total_seconds()

    with an_office(tmp_path) as office:
        headers = {"authorization": f"Bearer {put_key(office)}"}
        enter(office, **headers)
        office.clock.turn(30)
        enter(office, **headers)
        assert last_use(office) == 0
        office.clock.turn(31)
        enter(office, **headers)
        assert last_use(office) == 61


def test_bindings_and_the_configuration_file_add_to_what_a_key_may_do(tmp_path: Path) -> None:
    made = make_key()
    configured = StoredKey(
        digest=made.digest, key=APIKey(name="robot", roles={"*": RoleList(roles=["viewer"])}, source="config")
    )
    binding = RoleBinding(project="default", role="ingest", subject="key:robot", source="config")
    with an_office(tmp_path) as office:
        office.store.add_binding(msgspec.structs.replace(binding, role="guard", created_at=NOON))
        door = KeyAuthenticator(office.store, office.clock, keys=[configured], bindings=[binding])
        caller = asyncio.run(door.authenticate({"authorization": f"bearer {made.key}"}))
    assert caller.roles == {"*": ("viewer",), "default": ("guard", "ingest")}
    assert caller.has("traces.write", "default")
    assert caller.has("runs.read", "anywhere")


def test_keys_are_marked_random_and_told_from_their_digests() -> None:
    first, second = make_key(), make_key()
    assert first.key != second.key
    assert first.key.startswith(first.prefix)
    assert len(first.prefix) == 10
    assert looks_like_key(first.key)
    assert is_digest(first.digest)
    assert is_key_of(first.key, first.digest)
    assert not is_key_of(second.key, first.digest)
    assert first.key not in repr(first)


def test_a_key_revoked_while_it_is_looked_up_is_not_remembered_as_good(tmp_path: Path) -> None:
    with an_office(tmp_path) as office:
        headers = {"authorization": f"Bearer {put_key(office)}"}

        async def race() -> None:
            entering = asyncio.create_task(office.authenticator.authenticate(headers))
            await asyncio.sleep(0)  # the look-up has begun
            office.store.revoke_key("ci", at=NOON)
            office.authenticator.forget()
            await asyncio.gather(entering, return_exceptions=True)
            with pytest.raises(UnauthenticatedError):
                await office.authenticator.authenticate(headers)

        asyncio.run(race())
