"""Ports on loopback for servers that tests start, and waiting for such a server."""

import socket
import subprocess
import time
import urllib.request


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


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
