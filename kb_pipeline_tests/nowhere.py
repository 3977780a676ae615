"""A network namespace whose every way out ends in a file: what a program tries to send beyond loopback is seen.

``python -m kb_pipeline_tests.nowhere REPORT COMMAND...`` is what runs inside: a tunnel is the default route, for IPv4
and IPv6, and the name server is behind it, so that looking a name up is a packet as well. Nothing is ever answered.
"""

import fcntl
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_UNSHARE = ["unshare", "--map-root-user", "--net", "--mount"]
_TUNNEL = "nowhere"
_SET_INTERFACE = 0x400454CA
"""``TUNSETIFF``, see linux/if_tun.h; the flags say: IP packets, with nothing before them."""
_FLAGS = 0x0001 | 0x1000
_COMMANDS = (
    "ip link set lo up",
    f"ip address add 198.51.100.1/24 dev {_TUNNEL}",
    f"ip -6 address add 2001:db8::1/64 dev {_TUNNEL} nodad",
    f"ip link set {_TUNNEL} up",
    f"ip route add default dev {_TUNNEL}",
    f"ip -6 route add default dev {_TUNNEL}",
)
_FILES = {
    "resolv.conf": "nameserver 203.0.113.53\noptions timeout:1 attempts:1\n",
    "nsswitch.conf": "hosts: files dns\n",  # no resolver that is asked through a socket file
}
_ICMP6, _OF_THE_KERNEL = 58, frozenset({133, 135, 136, 143})
"""Router and neighbour discovery, multicast: what the kernel itself says about an interface."""
_QUIET_SECONDS = 0.3
_PORTED = {6: "tcp", 17: "udp"}


def unavailable() -> str:
    """Why there can be no such namespace here; empty if there can."""
    if shutil.which(_UNSHARE[0]) is None:
        return "there is no unshare"
    tried = subprocess.run(
        [*_UNSHARE, sys.executable, "-c", "open('/dev/net/tun', 'rb+', 0)"], capture_output=True, text=True, check=False
    )
    return tried.stderr.strip().rpartition("\n")[2]


def sent_by(
    command: Sequence[str], report: Path, environment: Mapping[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run a command inside; returns what it said, and what it tried to send, as ``protocol address port``."""
    inside = [sys.executable, "-m", "kb_pipeline_tests.nowhere", str(report), *command]
    paths = {"PYTHONPATH": str(_ROOT)}
    ran = subprocess.run(
        [*_UNSHARE, *inside],
        env={**(os.environ if environment is None else environment), **paths},
        cwd=report.parent,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    packets: list[str] = json.loads(report.read_text())
    return ran, packets


def shown(packet: bytes) -> str | None:
    """Where a packet was to go; ``None`` for the kernel's own."""
    if packet[0] >> 4 == 4:
        protocol, target, payload = packet[9], packet[16:20], packet[(packet[0] & 15) * 4 :]
    else:
        protocol, target, payload = packet[6], packet[24:40], packet[40:]
        if protocol == 0:  # hop-by-hop options, before the multicast of the kernel
            protocol, payload = payload[0], payload[(payload[1] + 1) * 8 :]
        if protocol == _ICMP6 and payload[0] in _OF_THE_KERNEL:
            return None
    port = struct.unpack("!H", payload[2:4])[0] if protocol in _PORTED else ""
    return f"{_PORTED.get(protocol, protocol)} {ip_address(target)} {port}{_asked(port, payload)}"


def _asked(port: object, payload: bytes) -> str:
    """The name that is looked up."""
    if port != 53:
        return ""
    labels, at = [], 20  # behind the headers of UDP and DNS
    while at < len(payload) and payload[at]:
        labels.append(payload[at + 1 : at + 1 + payload[at]].decode("ascii", "replace"))
        at += payload[at] + 1
    return f" {'.'.join(labels)}"


def main(report: str, *command: str) -> int:
    """Run the command in this namespace, and write down what it tried to send."""
    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tunnel, _SET_INTERFACE, struct.pack("16sH", _TUNNEL.encode(), _FLAGS))
    where = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}  # programs that not every user has on it
    for line in _COMMANDS:
        subprocess.run(line.split(), env=where, check=True)
    for name, text in _FILES.items():
        own = Path(report).with_name(name)
        own.write_text(text)
        subprocess.run(["mount", "--bind", str(own), str(Path("/etc", name).resolve())], check=True)
    packets: list[str] = []
    ended = threading.Event()

    def read() -> None:
        while select.select([tunnel], [], [], _QUIET_SECONDS)[0] or not ended.is_set():
            if select.select([tunnel], [], [], 0)[0] and (packet := shown(os.read(tunnel, 65_536))):
                packets.append(packet)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        ended.set()
        reader.join()
        Path(report).write_text(json.dumps(packets))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
