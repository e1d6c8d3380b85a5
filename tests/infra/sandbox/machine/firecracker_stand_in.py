"""Stands in for Firecracker where there is no hardware for it: it holds every request against the published API and, told to
start, starts the machine that was described in QEMU.

    FILE --api-sock PATH --id NAME

A program of its own, written out by `stand_in`, with the standard library alone, since it runs where Firecracker would: as
another user, behind a fence. In two things it is not Firecracker: the kernel may be compressed, and the machine's socket to
the host is a serial port.
"""

import json
import os
import socket
import socketserver
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

API: dict[str, Any] = json.loads("{}")
given: dict[str, dict[str, Any]] = {}


def problem(path: str, body: object) -> str:
    """Why a request is none; "" where it is one."""
    known = next(
        (each for each in API["paths"] if path == each or (each.endswith("/") and path.startswith(each))), None
    )
    if known is None:
        return f"Invalid request method and/or path: PUT {path}"
    about = API["paths"][known]
    kind = API["types"][about["type"]]
    if not isinstance(body, dict):
        return "the body is no object"
    fields: dict[str, Any] = body
    for name in kind["required"]:
        if name not in fields:
            return f"missing field `{name}`"
    for name, value in fields.items():
        if name not in kind["fields"]:
            return f"unknown field `{name}`"
        rule = kind["fields"][name]
        wanted = {"string": str, "boolean": bool, "integer": int}[rule["type"]]
        if type(value) is not wanted:
            return f"{name} is no {rule['type']}"
        if value not in rule.get("enum", [value]):
            return f"unknown variant `{value}`"
        if wanted is int and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
            return f"{name} is out of its range"
    if "id" in about and path != f"{known}{fields[about['id']]}":
        return "The id from the path does not match the id from the body!"
    if "/actions" in given:
        return "The requested operation is not supported after starting the microVM."
    if path == "/actions" and "/boot-source" not in given:
        return "Cannot start microvm without kernel configuration."
    return ""


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        why = problem(self.path, body)
        answer = json.dumps({"fault_message": why}).encode() if why else b""
        self.send_response(400 if why else 204)
        if why:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        if not why:
            given[self.path] = body
            if body.get("action_type") == "InstanceStart":
                self.wfile.flush()
                start()

    def address_string(self) -> str:
        return "host"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the library
        pass


def start() -> None:
    """The machine, with the words of QEMU."""
    boot, machine = given["/boot-source"], given["/machine-config"]
    drives = [body for path, body in given.items() if path.startswith("/drives/")]
    words = boot["boot_args"].split()
    (port,) = (word.partition(":")[2] for word in words if word.startswith("evalsi.channel=vsock:"))
    words = ["evalsi.channel=serial" if word.startswith("evalsi.channel=") else word for word in words]
    khz = next(
        int(float(line.partition(":")[2]) * 1000)
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("cpu MHz")
    )
    command = [
        "/usr/bin/qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
        "-machine", "microvm,pit=on,pic=on,rtc=on,acpi=on", "-accel", "tcg", "-cpu", "max",
        "-smp", str(machine["vcpu_count"]), "-m", str(machine["mem_size_mib"]),
        "-kernel", boot["kernel_image_path"], "-initrd", boot["initrd_path"],
        "-append", " ".join([*words, f"tsc_early_khz={khz}", "no_timer_check", "mitigations=off"]),
        "-serial", "null", "-device", "virtio-serial-device",
        "-chardev", f"socket,id=control,path={given['/vsock']['uds_path']}_{port}",
        "-device", "virtserialport,chardev=control",
    ]  # fmt: skip
    for drive in drives:
        name, read_only = drive["drive_id"], "on" if drive["is_read_only"] else "off"
        command += ["-drive", f"file={drive['path_on_host']},if=none,id={name},format=raw,readonly={read_only}"]
        command += ["-device", f"virtio-blk-device,drive={name}"]
    if os.fork() == 0:
        os.execv(command[0], command)


class Server(socketserver.UnixStreamServer):
    def handle_error(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object) -> None:
        pass


def main() -> None:
    words = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    assert words.keys() == {"--api-sock", "--id"}
    Server(words["--api-sock"], Requests).serve_forever()


def stand_in(folder: Path) -> Path:
    """Writes the program, with the description of the API in it, to a folder that every user may enter."""
    api = json.dumps(json.loads((Path(__file__).parent / "firecracker_api.json").read_text(encoding="utf-8")))
    text = Path(__file__).read_text(encoding="utf-8").replace('json.loads("{}")', f"json.loads({api!r})", 1)
    place = folder / "firecracker"
    place.write_text(f"#!/usr/bin/python3 -I\n{text}", encoding="utf-8")
    place.chmod(0o755)
    return place


if __name__ == "__main__":
    main()
