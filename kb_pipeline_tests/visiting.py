"""``python -m kb_pipeline_tests.visiting``: serve what ``KB_HOME`` holds, look at all of it in a browser, and stop.

Prints, as JSON, which hosts the browser was asked to reach, and how strangers' WebSockets were received.
"""

import json
import os
import signal
import subprocess
import sys
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from kb_pipeline_tests.dagster_ui import KB, browsing
from kb_pipeline_tests.ports import free_port, wait_for

QUESTION = "How do I create a webhook?"
DAGSTER_PAGES = ("/", "/overview/activity", "/asset-groups", "/runs", "/jobs", "/deployment/health", "/graphql")
SILENT = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""The browser's own services are looked up nowhere; what pages ask for is told before anything is looked up."""
ELSEWHERE = "elsewhere.example"


def main() -> None:
    """Serve, visit, stop."""
    ports = {name: free_port() for name in ("KB_PAGE_PORT", "KB_APP_PORT", "KB_DAGSTER_PORT")}
    environment = (
        os.environ | {name: str(port) for name, port in ports.items()} | {"KB_ALLOWED_HOSTS": "kb.example.com"}
    )
    page_url, _, dagster_url = (f"http://127.0.0.1:{port}" for port in ports.values())
    serving = subprocess.Popen([KB, "serve"], env=environment, stdout=sys.stderr)
    try:
        wait_for(f"{dagster_url}/server_info", serving, 120)  # it starts last
        knocks = [knock(page_url, origin) for origin in ("http://evil.example", "https://kb.example.com", page_url)]
        with browsing(page_url, SILENT) as page:
            hosts: set[str] = set()
            page.context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
            page.on("websocket", lambda socket: hosts.add(urlsplit(socket.url).netloc))
            ask(page)
            for path in DAGSTER_PAGES:
                page.goto(dagster_url + path)
                page.wait_for_load_state("networkidle")
            reached = sorted(hosts - {""})  # data: and blob: have none
            page.evaluate(f"fetch('http://{ELSEWHERE}/').catch(() => 0)")
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.wait(60)
    seen = {"reached": reached, "would_be_seen": ELSEWHERE in hosts}
    places = {"page": urlsplit(page_url).netloc, "dagster": urlsplit(dagster_url).netloc}
    print(json.dumps({"knocks": knocks, **places, **seen}))


def ask(page: Page) -> None:
    """An answer with its pictures, and the page of every part."""
    page.goto("/")
    page.get_by_role("textbox", name="Ask a question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".kb-answer").first).to_contain_text("webhook")
    for name in ("Knowledge base", "Quality", "For authors"):
        page.get_by_role("link", name=name).last.click()
        expect(page.get_by_role("heading").first).to_be_visible()


def knock(url: str, origin: str) -> int:
    """Open the page's WebSocket from a page of that origin; the status of the handshake."""
    try:
        with connect(f"{url.replace('http', 'ws', 1)}/_stcore/stream", origin=origin) as socket:  # type: ignore[arg-type]
            return socket.response.status_code if socket.response else 0
    except InvalidStatus as refused:
        return refused.response.status_code


if __name__ == "__main__":
    main()
