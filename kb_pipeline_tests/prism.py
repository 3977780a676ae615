"""The Prism proxy: between an SDK and a stand-in, it refuses every request and response that breaks a contract."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from kb_pipeline_tests.app.model_servers import NODE
from kb_pipeline_tests.ports import free_port

_PRISM = Path(__file__).parent / "node/node_modules/@stoplight/prism-cli/dist/index.js"
SPECS = Path(__file__).parent / "specs"
SEARCH_SPEC = SPECS / "search-2026-04-01.from-sdk-12.0.0.openapi.json"
_SECONDS_TO_START = 90.0
_ENDS_WITH_US = "data:text/javascript,process.stdin.on('end', () => process.exit()).resume()"
"""Its standard input ends when whoever started it is gone, however that came about."""


@contextmanager
def prism_proxy(spec: Path, upstream: str) -> Iterator[str]:
    """The URL of a proxy that answers 422 or 500 for what is not in the contract; it ends with the block."""
    port = free_port()
    options = ["-p", str(port), "-h", "127.0.0.1", "--errors"]
    command = [NODE, "--import", _ENDS_WITH_US, _PRISM, "proxy", spec, upstream, *options]
    process = subprocess.Popen(
        [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(url)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the Prism proxy did not start")
