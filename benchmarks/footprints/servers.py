"""The agent service, the chat page in Chromium, and all that `kb serve` starts."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

from app.application import agent_service, chat_page
from benchmarks.footprints.processes import serving
from kb_pipeline.limited.browser import system_browser
from kb_pipeline_tests.ports import free_port

Environment = Mapping[str, str]

QUESTION = "How do I save a picture?"

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def service(environment: Environment) -> dict[str, Any]:
    """Seconds from the start of the agent service to its first answers of each kind, and its memory."""
    port = free_port()
    with (
        serving([sys.executable, *agent_service()], environment | {"KB_APP_PORT": str(port)}) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client,
    ):
        taken: dict[str, Any] = {"healthy_s": server.until(lambda: _answers(client, "/health"))}
        taken |= {"healthy_cpu_s": server.cpu_seconds(), "healthy_mb": server.memory_mb()}
        client.get("/api/search", params={"q": QUESTION}).raise_for_status()
        taken["first_search_s"] = server.seconds()
        client.post("/chat", json={"question": QUESTION}).raise_for_status()
        taken |= {"first_answer_s": server.seconds(), "first_answer_cpu_s": server.cpu_seconds()}
        return taken | {"answered_mb": server.memory_mb(), "peak_mb": server.peak_mb()}


def page(environment: Environment) -> dict[str, Any]:
    """Seconds from the start of the chat page until it answers (its service is there), and what a visit takes."""
    service_port, page_port = free_port(), free_port()
    environment = environment | {"KB_APP_PORT": str(service_port), "KB_PAGE_PORT": str(page_port)}
    url = f"http://127.0.0.1:{page_port}"
    with serving([sys.executable, *agent_service()], environment) as behind, httpx.Client(timeout=120) as client:
        behind.until(lambda: _answers(client, f"http://127.0.0.1:{service_port}/health"))
        with serving([sys.executable, *chat_page(page_port)], environment) as server:
            taken: dict[str, Any] = {"healthy_s": server.until(lambda: _answers(client, f"{url}/_stcore/health"))}
            taken |= {"healthy_cpu_s": server.cpu_seconds(), "healthy_mb": server.memory_mb()}
            taken |= {"first_visit": _visit(url), "second_visit": _visit(url)}
            return taken | {"visited_mb": server.memory_mb(), "peak_mb": server.peak_mb()}


def everything(environment: Environment) -> dict[str, Any]:
    """Seconds until all that `kb serve` serves is there, and the memory of all of it together."""
    ports = {name: free_port() for name in ("KB_APP_PORT", "KB_PAGE_PORT", "KB_DAGSTER_PORT")}
    signs = dict(zip(ports.values(), ("/health", "/_stcore/health", "/server_info"), strict=True))
    command = [str(Path(sys.executable).parent / "kb"), "serve"]
    given = {name: str(port) for name, port in ports.items()} | {"KB_WATCH": "false"}
    with httpx.Client(timeout=120) as client, serving(command, environment | given) as server:
        seconds = max(
            server.until(lambda port=port, sign=sign: _answers(client, f"http://127.0.0.1:{port}{sign}"))  # type: ignore[misc]
            for port, sign in signs.items()
        )
        return {"healthy_s": seconds, "healthy_mb": server.memory_mb()}


def _answers(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).is_success
    except httpx.TransportError:
        return False


def _visit(url: str) -> dict[str, float]:
    """Seconds to the first paint with content, and until a question can be typed, in a browser that knows nothing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=_FLAGS)
        shown = browser.new_page()
        shown.set_default_timeout(120_000)
        shown.goto(url, wait_until="commit")
        shown.get_by_role("textbox", name="Ask a question").wait_for()
        taken = {"first_paint_s": _seconds(shown, _PAINT), "question_box_s": _seconds(shown, "performance.now()")}
        browser.close()
        return taken


def _seconds(shown: Page, milliseconds: str) -> float:
    return round(float(shown.evaluate(milliseconds)) / 1000, 3)
