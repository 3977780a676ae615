"""Ports on loopback for servers that tests start, and waiting for such a server."""

import fcntl
import random
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TextIO

_PORTS = range(20_000, 32_000)
"""Below the ports that systems give to outgoing connections, which could take one before its server listens."""
_claimed: list[TextIO] = []


def free_port() -> int:
    """A port that nobody listens on now, and that no other test is given while this process runs."""
    claims = Path(tempfile.gettempdir()) / "kb-test-ports"
    claims.mkdir(exist_ok=True)
    for port in random.sample(_PORTS, len(_PORTS)):
        claim = (claims / str(port)).open("w")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as free:
                free.bind(("127.0.0.1", port))
        except OSError:  # another test has it, or something listens there
            claim.close()
        else:
            _claimed.append(claim)
            return port
    raise OSError(f"all ports of {_PORTS} are taken")


def wait_for(url: str, process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until the server answers at this address.

    Raises:
        AssertionError: its process ended, or it did not answer in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5)
        except OSError:
            assert process.poll() is None, f"the process behind {url} ended with {process.returncode}"
            assert time.monotonic() < deadline, f"{url} never answered"
            time.sleep(0.1)
        else:
            return


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Wait until something listens on the port, whatever it speaks.

    Raises:
        AssertionError: its process ended, or it did not listen in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except OSError:
            assert process.poll() is None, f"the process behind port {port} ended with {process.returncode}"
            assert time.monotonic() < deadline, f"nothing ever listened on port {port}"
            time.sleep(0.1)
        else:
            return
