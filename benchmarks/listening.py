"""Waits until a server that was just started responds."""

import subprocess
import time

import httpx

_LONGEST = 60


def wait_for(client: httpx.Client, path: str, process: subprocess.Popen[bytes]) -> None:
    """Send requests until the server responds, with any status.

    Raises:
        httpx.TransportError: the server's process ended, or a minute passed.
    """
    deadline = time.monotonic() + _LONGEST
    while True:
        try:
            client.get(path)
        except httpx.TransportError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
