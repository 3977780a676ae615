"""How long the chat page takes to be usable, the first time, over a slow line and over a fast one, in Chromium.

``python -m benchmarks.first_load --url http://127.0.0.1:8501 [--before FILE] [--out FILE]``; the page is served.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright

from kb_pipeline.limited.browser import system_browser

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_SLOW = {"downloadThroughput": 50_000, "uploadThroughput": 50_000, "latency": 40}
"""Bytes a second, and milliseconds of a request: a phone at the edge of its network."""
_PATIENCE_MS = 180_000
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_COMPLETE = "() => Math.max(...performance.getEntriesByType('resource').map((each) => each.responseEnd))"


class Load(NamedTuple):
    """One visit: seconds until something is painted, until Streamlit's box takes a question, and until all has come; kB
    by kind of file.
    """

    first_paint_s: float
    usable_s: float
    complete_s: float
    kilobytes: dict[str, int]


def visit(browser: Browser, url: str, line: dict[str, int] | None, *, again: bool = False) -> Load:
    """Open the page, which the browser has never seen, or ``again``, over a line."""
    with browser.new_context(viewport={"width": 1300, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        question = page.get_by_test_id("stChatInputTextArea")
        if again:
            page.goto(url)
            question.and_(page.locator(":enabled")).wait_for()
            page.wait_for_load_state("networkidle")
            page.goto("about:blank")
        received: Counter[str] = Counter()
        kinds: dict[str, str] = {}
        tools = context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
        tools.on(
            "Network.loadingFinished",
            lambda event: received.update({kinds.get(event["requestId"], "Other"): event["encodedDataLength"]}),
        )
        if line:
            tools.send("Network.emulateNetworkConditions", {"offline": False, **line})
        page.goto(url, wait_until="commit")
        question.and_(page.locator(":enabled")).wait_for()
        usable = page.evaluate("performance.now()")
        painted = page.wait_for_function(_PAINTED).json_value()
        page.wait_for_load_state("networkidle")
        kilobytes = {kind: round(size / 1000) for kind, size in received.most_common()}
        complete = page.evaluate(_COMPLETE)
        return Load(*(round(each / 1000, 2) for each in (painted, usable, complete)), kilobytes)


def measure(url: str, visits: int) -> dict[str, dict[str, object]]:
    """The medians of several visits, each in a browser's own context; the slow one is made once."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=_FLAGS)
        visit(browser, url, None)  # what the server does once
        ways = {
            "slow line": [visit(browser, url, _SLOW)],
            "fast line": [visit(browser, url, None) for _ in range(visits)],
            "fast line, again": [visit(browser, url, None, again=True) for _ in range(visits)],
        }
        browser.close()
    return {
        way: {
            "first_paint_s": median(load.first_paint_s for load in loads),
            "usable_s": median(load.usable_s for load in loads),
            "complete_s": median(load.complete_s for load in loads),
            "kB": sum(loads[-1].kilobytes.values()),
            "kB_by_kind": loads[-1].kilobytes,
        }
        for way, loads in ways.items()
    }


def main() -> None:
    """Measure, print, and compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--url", required=True)
    options.add_argument("--visits", type=int, default=5)
    options.add_argument("--before", type=Path, help="figures of an earlier --out, to compare with")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    if urlsplit(given.url).scheme not in ("http", "https"):
        options.error("--url must be the address of a page that is served")
    now = measure(given.url, given.visits)
    print(json.dumps(now, indent=2))
    if given.out:
        given.out.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    if given.before:
        before = json.loads(given.before.read_text(encoding="utf-8"))
        for way, figures in now.items():
            for name in ("first_paint_s", "usable_s", "complete_s", "kB"):
                was, now_is = before[way][name], figures[name]
                print(f"{way}: {name} {was} -> {now_is}, {now_is / was:.2f} of it")  # type: ignore[operator]


if __name__ == "__main__":
    main()
