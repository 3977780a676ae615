"""``kb serve``: the chat page, the agent service and Dagster, started and stopped together, on loopback."""

import os
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from types import FrameType
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.table import Table

from app.settings import AppSettings, load_app_settings
from kb_pipeline.cli.console import err, out
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.cli.processes import (
    Processes,
    agent_service,
    chat_page,
    code_server,
    daemon,
    webserver,
    write_workspace,
)
from kb_pipeline.cli.serve_lock import AlreadyServedError, only_server
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings

_START_SECONDS = 90


@dataclass(frozen=True)
class Site:
    """Something that is served: what a person calls it, where it is, and what its page at ``sign`` says of itself."""

    name: str
    url: str
    sign: str
    says: bytes
    setting: str

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port on this machine."""
        parts = urlsplit(self.url)
        return parts.hostname or "127.0.0.1", parts.port or 80


def serve(
    port: Annotated[int | None, typer.Option(help="Port of the Dagster UI; default: KB_DAGSTER_PORT.")] = None,
    dagster_only: Annotated[bool, typer.Option("--dagster-only", help="Without agent service and chat page.")] = False,
) -> None:
    """Serve the chat page, the agent service and the Dagster UI, and watch the staging folder, until Ctrl-C.

    One process serves a knowledge base: another one only says where.
    """
    settings = load_settings()
    app = None if dagster_only else load_app_settings()
    dagster = _dagster(port or settings.dagster_port)
    environment = {"KB_DAGSTER_URL": dagster.url, **os.environ, **dagster_environment(settings)}
    home = Path(environment["DAGSTER_HOME"])
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        others = {site.name: site.url for site in _app_sites(app)} if app else {}
        with only_server(home, dagster.address[1], others), tempfile.TemporaryDirectory(prefix="kb-serve-") as scratch:
            _serve(dagster, app, environment, Path(scratch))
    except AlreadyServedError as exc:
        if exc.served is None or port not in (None, exc.served.port):
            raise
        _show({**exc.served.others, dagster.name: exc.served.url}, f"served already, by process {exc.served.pid}")
    finally:
        signal.signal(signal.SIGTERM, before)


def _dagster(port: int) -> Site:
    return Site(
        "Dagster UI",
        f"http://127.0.0.1:{port}",
        "/server_info",
        b"dagster_webserver_version",
        "--port or KB_DAGSTER_PORT",
    )


def _app_sites(app: AppSettings) -> tuple[Site, Site]:
    return (
        Site("Chat page", f"http://127.0.0.1:{app.page_port}", "/_stcore/health", b"ok", "KB_PAGE_PORT"),
        Site("Agent service", app.listening_url, "/health", b"answered_by", "KB_APP_PORT"),
    )


def _serve(dagster: Site, app: AppSettings | None, environment: Mapping[str, str], scratch: Path) -> None:
    sites = (*(_app_sites(app) if app else ()), dagster)
    _require_different(sites)
    for site in sites:
        _require_free(site)
    workspace, code_socket = scratch / "workspace.yaml", scratch / "code"
    write_workspace(workspace, code_socket)
    processes = Processes(environment)
    try:
        processes.start("the code server", code_server(code_socket))
        if app:
            processes.start("the agent service", agent_service())
            processes.start("the chat page", chat_page(app.page_port))
        processes.wait_for("the code server", code_socket)
        processes.start("the webserver", webserver(workspace, dagster.address[1]))
        processes.start("the daemon", daemon(workspace))
        for site in sites:
            _wait_until_up(site, processes)
        _show({site.name: site.url for site in sites}, "Ctrl-C stops all")
        while True:
            processes.keep_alive()
            time.sleep(1)
    except KeyboardInterrupt:
        err.print("stopping …")
    finally:
        processes.stop()


def _show(urls: Mapping[str, str], remark: str) -> None:
    table = Table.grid(padding=(0, 2))
    for name, url in urls.items():
        table.add_row(f"{name}:", f"[link={url}]{url}[/link]")
    out.print(table)
    out.print(f"({remark})")


def _require_different(sites: Iterable[Site]) -> None:
    by_port: dict[int, Site] = {}
    for site in sites:
        other = by_port.setdefault(site.address[1], site)
        if other is not site:
            raise SettingsError(
                f"{other.name} and {site.name} would both use port {site.address[1]}; change it with {site.setting}"
            )


def _require_free(site: Site) -> None:
    try:
        socket.create_connection(site.address, timeout=2).close()
    except OSError:
        return
    raise SettingsError(
        f"another program uses port {site.address[1]}, where the {site.name} would be; "
        f"choose another one with {site.setting}"
    )


def _wait_until_up(site: Site, processes: Processes) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        processes.keep_alive()
        if _answers(site):
            return
        time.sleep(0.3)
    raise SettingsError(f"the {site.name} did not answer at {site.url} within {_START_SECONDS} s; its output is above")


def _answers(site: Site) -> bool:
    try:
        with urllib.request.urlopen(site.url + site.sign, timeout=5) as reply:  # noqa: S310  (our own loopback URL)
            return site.says in reply.read(10_000)
    except (OSError, HTTPException):
        return False


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
