"""Waits until a server that was just started answers."""

import subprocess
import time

import httpx

_LONGEST = 60


def wait_for(client: httpx.Client, path: str, process: subprocess.Popen[bytes]) -> None:
    """Ask until it answers, whatever it says.

    Raises:
        httpx.TransportError: its process ended, or a minute is over.
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
