"""Articles are printed by a real browser: offline, nothing cut off, and whatever a page does, the next is printed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

from kb_pipeline.analyzers.mistral import pdf
from kb_pipeline.analyzers.mistral.pdf import print_pdf
from kb_pipeline.errors import ArticleError, SettingsError
from kb_pipeline_tests.mistral_reader import read_pages, written_lines

pytestmark = pytest.mark.browser

LONG = "https://wrendesk.example.com/" + "a-very-long-address/" * 12


def printed(html: str) -> list[str]:
    """The text of each page as it is placed on the paper; what is beyond its edges is not."""
    with pypdfium2.PdfDocument(print_pdf(html)) as document:
        return [page.get_textpage().get_text_bounded(0, 0, *page.get_size()) for page in document]


@pytest.fixture
def visitors() -> Iterator[list[bytes]]:
    """What connects to a port on this machine: also connections over which nothing is asked."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen.append(str(server.getsockname()[1]).encode())

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                seen.append(connection.recv(100))
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield seen


HOSTILE = """<!doctype html><html><head><base href="http://HOST/"><title>Hostile</title>
<meta http-equiv="refresh" content="0;url=http://HOST/refresh"><meta http-equiv="refresh" content="0;url=file:///etc/passwd">
<link rel="stylesheet" href="a.css"><link rel="preconnect" href="http://HOST"><link rel="dns-prefetch" href="//HOST">
<link rel="prefetch" href="b"><link rel="preload" as="image" href="c.png"><link rel="icon" href="d.ico">
<link rel="manifest" href="e.json"><link rel="modulepreload" href="f.js"><link rel="prerender" href="g">
<style nonce="print">@import url(h.css); @font-face { font-family: x; src: url(i.woff) }
* { font-family: x; background: url(j.png) }
h1 { display: none } p { position: fixed; top: -100cm; height: 1000000cm }</style>
<script src="k.js"></script><script>fetch("l"); new WebSocket("ws://HOST/m"); location = "http://HOST/n";
document.addEventListener("DOMContentLoaded", () => document.body.innerHTML = "gone"); while (true) {}</script></head>
<body onload="fetch('o')" background="p.png"><h1>Still here</h1><img src="q.png" srcset="r.png 2x"><img src="file:///etc/hostname">
<iframe src="s"></iframe><iframe src="file:///etc/passwd"></iframe><iframe srcdoc="<img src=http://HOST/t>"></iframe>
<object data="u"></object><embed src="v"><video src="w" poster="x" autoplay></video><audio src="y" autoplay></audio>
<svg><image href="z.png"/><use href="aa.svg#a"/></svg><form action="bb"><input type="image" src="cc.png"></form>
<p>and readable</p><a href="dd" ping="ee">to the end</a></body></html>"""


@pytest.mark.slow("prints pages with a browser")
def test_no_request_leaves_the_browser_and_nothing_of_the_page_runs(visitors: list[bytes]) -> None:
    port = visitors.pop().decode()
    text = " ".join(printed(HOSTILE.replace("HOST", f"127.0.0.1:{port}")))
    time.sleep(0.3)
    assert visitors == []
    assert all(words in text for words in ("Still here", "and readable", "to the end"))
    assert "gone" not in text
    assert "root:" not in text


@pytest.mark.slow("prints pages with a browser")
@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            "<table><tr>" + "<td>cell</td>" * 5 + f"<td>{LONG}</td></tr></table><p>end", id="long-word-in-cell"
        ),
        pytest.param("<table>" + ("<tr>" + "<td>column</td>" * 14 + "</tr>") * 3 + "</table><p>end", id="many-columns"),
        pytest.param("<table><tr>" + "<td>cell</td>" * 150 + "</tr></table><p>end", id="absurdly-many-columns"),
        pytest.param(f"<pre>{LONG}{LONG}</pre><p>end", id="long-line-of-code"),
        pytest.param(f"<p>{LONG}<p>end", id="long-word"),
        pytest.param("<ul><li>deep" * 60 + "<p>end", id="deep-list"),
        pytest.param("<blockquote>deep" * 60 + "<p>end", id="deep-quote"),
        pytest.param(f"<p>{'[[IMG:a-rather-long-name-of-an-image-file-1.image]] ' * 3}<p>end", id="markers"),
    ],
)
def test_nothing_is_cut_off(html: str) -> None:
    shown = "".join("".join(printed(html)).split()).replace("\x02", "-")
    for words in ("cell", "column", "deep", "[[IMG:a-rather-long-name-of-an-image-file-1.image]]", LONG):
        assert shown.count(words) == html.count(words), words
    assert shown.endswith("end")


def test_what_fits_on_a_page_is_on_one() -> None:
    paragraph = "<p>begins " + "words that fill several lines of the page " * 12 + "ends</p>"
    pages = printed(paragraph * 12)
    assert len(pages) > 2
    assert all(page.count("begins") == page.count("ends") for page in pages)


@pytest.mark.slow("prints pages with a browser")
def test_letters_are_large_and_headings_larger() -> None:
    html = "<h1>Top</h1>" + "".join(f"<h{level}>Level {level}</h{level}>" for level in range(2, 7)) + "<p>Text. " * 20
    page = read_pages(print_pdf(html), written_lines)[0]
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        *("# Top", "## Level 2", "### Level 3", "#### Level 4", "##### Level 5", "###### Level 6")
    ]


def test_markers_stand_in_one_piece() -> None:
    marker = '<span class="marker">[[IMG:forty-letters-of-a-name-are-the-most.image]]</span>'
    page = read_pages(
        print_pdf(f"<p>Click the button that looks exactly as in this picture: {marker} now.</p>"), written_lines
    )
    assert "[[IMG:forty-letters-of-a-name-are-the-most.image]]" in page[0]


@pytest.mark.slow("prints pages with a browser")
def test_threads_and_event_loops_may_print() -> None:
    async def within() -> bytes:
        return print_pdf("<p>loop</p>")

    assert asyncio.run(within()).startswith(b"%PDF")
    with ThreadPoolExecutor(3) as threads:
        assert all(pdf.startswith(b"%PDF") for pdf in threads.map(print_pdf, ["<p>thread</p>"] * 3))


def test_threads_that_print_first_share_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Slow:
        def __init__(self) -> None:
            time.sleep(0.05)
            made.append(self)

        def print(self, html: str) -> bytes:
            return html.encode()

    monkeypatch.setattr(pdf, "_Printer", Slow)
    monkeypatch.setattr(pdf, "_printer", cache(pdf._printer.__wrapped__))
    with ThreadPoolExecutor(3) as threads:
        assert set(threads.map(print_pdf, ["a"] * 3)) == {b"a"}
    assert len(made) == 1


def descendants() -> dict[int, str]:
    """The command lines of all processes below this one."""
    listed = subprocess.run(["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    below = {os.getpid()}
    for _ in range(6):
        below |= {int(pid) for pid, parent, _ in rows if int(parent) in below}
    return {int(pid): command for pid, _, command in rows if int(pid) in below}


@pytest.mark.rare("kills browsers")
@pytest.mark.parametrize("part", ["--remote-debugging-pipe", "run-driver"])
def test_a_browser_that_was_killed_is_replaced(part: str) -> None:
    print_pdf("<p>before</p>")
    victims = [pid for pid, command in descendants().items() if part in command and "--type=" not in command]
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    assert print_pdf("<p>after</p>").startswith(b"%PDF")


@pytest.mark.slow("prints pages with a browser")
def test_a_page_that_takes_too_long_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    print_pdf("<p>before</p>")
    monkeypatch.setattr(pdf, "SECONDS", 0.1)
    with pytest.raises(ArticleError, match=r"its page \([\d,]+ characters\) was not printed within 0.1 s"):
        print_pdf("<p>lorem ipsum dolor sit amet</p>" * 15_000)
    monkeypatch.undo()
    assert print_pdf("<p>after</p>").startswith(b"%PDF")


def test_a_machine_without_a_browser_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="apt-get install chromium"):
        pdf._Printer().print("<p>text</p>")


def processes_with(variable: str) -> list[Path]:
    """Processes in whose environment the variable is, told by their folders below ``/proc``."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable.encode() in environment.read_bytes():
                found.append(environment.parent)
    return found


@pytest.mark.rare("kills browsers")
@pytest.mark.parametrize("end", ["", "; import os; os.kill(os.getpid(), 9)"], ids=["exit", "killed"])
def test_no_browser_outlives_its_process(end: str) -> None:
    program = f"from kb_pipeline.analyzers.mistral.pdf import print_pdf; print_pdf('<p>x</p>'){end}"
    mark = f"PRINTED_BY_{os.getpid()}_{len(end)}"
    environment = {**os.environ, mark: "1"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.stderr == ""
    deadline = time.monotonic() + 60
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not processes_with(mark)


BROWSERS_WITH_KEYS = """
from pathlib import Path
from kb_pipeline.analyzers.mistral.pdf import print_pdf
print_pdf("<p>Hello")
environments = {
    place.parent.name: place.read_bytes()
    for place in Path("/proc").glob("[0-9]*/environ")
    if b"\\0--host-resolver-rules=MAP * ~NOTFOUND\\0" in (place.parent / "cmdline").read_bytes()
}
print(len(environments), sum(b"planted" in environment for environment in environments.values()))
"""


@pytest.mark.slow("prints pages with a browser")
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="asks Linux for the environment of processes")
def test_the_browser_is_not_given_our_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MISTRAL_API_KEY", "planted")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:planted@127.0.0.1:9")
    command = [sys.executable, "-c", BROWSERS_WITH_KEYS]
    started, with_keys = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.split()
    assert int(started) >= 1
    assert int(with_keys) == 0
