"""What a server lets its users ask sandboxes for, and that its workers come to the same settings."""

from pathlib import Path

import pytest

from evalsi.core.errors import InvalidSpecError, UnknownNameError, UsageError
from evalsi.settings import SandboxSettings, Settings
from evalsi.settings.read_server_settings import placed_server_settings, read_server_settings
from evalsi.settings.server import OWN_MACHINE, ServerSettings
from evalsi.settings.server_sandboxes import sandbox_environment, sandboxes_of
from evalsi.wiring.sandboxing import make_sandbox_host

FILE = """
worker:
  sandbox_service: {address: "sandboxes.internal:8090", ca_file: ca.pem, cert_file: us.pem, key_file: us.key, server_name: boxes}
sandbox:
  ladder: [bubblewrap]
  prefer: strongest
  allow_none: true
  allow_network: true
  allowed_images: ["ghcr.io/acme/*"]
  allow_local_images: true
  image_key: key.pem
  image_cache_mb: 100
  packages_dir: packages
  bwrap_path: /usr/bin/bwrap
  cache_dir: images
  cgroup: /sys/fs/cgroup/evalsi
  firecracker: {binary: /opt/firecracker, kernel: vmlinux, memory_mb: 256}
"""


def test_what_a_server_says_of_sandboxes_reaches_its_workers_whole(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text(FILE, encoding="utf-8")
    sandboxes = sandboxes_of(placed_server_settings(tmp_path / "evalsi.yaml"), SandboxSettings())
    assert sandboxes.remote.address == "sandboxes.internal:8090"
    assert sandboxes.remote.tls_key == tmp_path / "us.key"
    assert sandboxes.packages == tmp_path / "packages"
    assert sandboxes.firecracker == Path("/opt/firecracker")
    assert (sandboxes.kernel, sandboxes.machine_memory_mib) == (tmp_path / "vmlinux", 256)
    assert sandboxes.allowed_images == ("ghcr.io/acme/*",)
    assert Settings.from_environment(sandbox_environment(sandboxes)).sandbox == sandboxes


def test_users_of_a_server_may_ask_for_nothing_that_its_file_does_not_allow_whatever_its_environment_says() -> None:
    generous = SandboxSettings.of({"EVALSI_SANDBOX_ALLOW_NONE": "1", "EVALSI_SANDBOX_ALLOWED_IMAGES": "*"})
    sandboxes = sandboxes_of(ServerSettings(), generous)
    assert (sandboxes.allow_none, sandboxes.allowed_images, sandboxes.allow_local_images) == (False, (), False)
    assert not sandboxes.allow_network
    worker = Settings.from_environment(sandbox_environment(sandboxes)).sandbox
    assert (worker.allow_none, worker.allowed_images, worker.allow_local_images) == (False, (), False)
    assert not worker.allow_network


def test_on_their_own_machine_people_are_their_own_operators() -> None:
    sandboxes = sandboxes_of(OWN_MACHINE, SandboxSettings())
    assert (sandboxes.allow_none, sandboxes.allowed_images, sandboxes.allow_local_images) == (True, None, True)
    assert SandboxSettings.of({}) == SandboxSettings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worker: {sandbox_service: {address: somewhere}}", "must be an address and a port"),
        ("worker: {sandbox_service: {address: 'a:1', cert_file: a.pem}}", "together"),
        ("sandbox: {max_sandboxes: 0}", "above 0"),
        ("sandbox: {idle_timeout_s: 0}", "above 0"),
        ("sandbox: {prefer: fastest}", "strongest"),
        ("sandbox: {pod: {}}", "does not serve"),
        ("sandbox: {laddr: []}", "ladder"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "evalsi.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidSpecError) as told:
        read_server_settings(tmp_path / "evalsi.yaml")
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"EVALSI_SANDBOX_PREFER": "fastest"}, UnknownNameError),
        ({"EVALSI_SANDBOX_DRIVERS": "bubblewrp"}, UnknownNameError),
        ({"EVALSI_SANDBOX_ADDR": "somewhere"}, UsageError),
        ({"EVALSI_SANDBOX_ADDR": "a:1", "EVALSI_SANDBOX_TLS_CERT": "a.pem"}, UsageError),
        ({"EVALSI_SANDBOX_IMAGE_CACHE_MB": "much"}, UsageError),
    ],
)
def test_words_of_the_environment_that_mean_nothing_are_refused(
    environment: dict[str, str], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        make_sandbox_host(Settings.from_environment(environment))
