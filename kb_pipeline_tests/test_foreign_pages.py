"""What the Dagster UI of ``kb serve`` shows, and what it refuses to pages and names that are not its own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from kb_pipeline_tests.dagster_ui import Site, browsing, picture, served

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow("starts what it looks at, and a browser")]

LAUNCH = """mutation {launchRun(executionParams: {
  selector: {repositoryLocationName: "kb_pipeline", repositoryName: "__repository__", jobName: "reconcile"},
  runConfigData: "{}"
}) {__typename ... on LaunchRunSuccess {run {runId}}}}"""
CANCEL = 'mutation {terminateRun(runId: "%s", terminatePolicy: MARK_AS_CANCELED_IMMEDIATELY) {__typename}}'
RUNS = "{runsOrError {... on Runs {results {runId}}}}"


@dataclass
class DagsterUi:
    """A running Dagster UI, as a command-line client reaches it."""

    url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 80

    def ask(self, query: str, **headers: str) -> httpx.Response:
        return httpx.post(f"{self.url}/graphql", json={"query": query}, headers=headers, timeout=60)

    def runs(self) -> int:
        return len(self.ask(RUNS).raise_for_status().json()["data"]["runsOrError"]["results"])


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterUi]:
    folder = tmp_path_factory.mktemp("site")
    analyzer = "kb_pipeline_tests.doubles:PaidAnalyzer"
    site = Site(folder, KB_ANALYZER=analyzer, PAID_LEDGER=str(folder / "ledger"))
    site.stage("alpha", "<body><h1>Article alpha</h1><p>Some text.</p><img src='a.image' alt='A form'></body>")
    site.kb_here("ingest")
    with served(site) as url:
        yield DagsterUi(url)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reading_an_address_never_starts_a_run(ui: DagsterUi, method: str) -> None:
    before = ui.runs()
    reply = httpx.request(method, f"{ui.url}/graphql", params={"query": LAUNCH})
    assert (reply.status_code, ui.runs()) == (405, before)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_can_send_is_no_graphql(ui: DagsterUi, content_type: str) -> None:
    before = ui.runs()
    headers = {"content-type": content_type} if content_type else {}
    body = json.dumps({"query": LAUNCH})
    reply = httpx.post(f"{ui.url}/graphql", params={"query": LAUNCH}, content=body, headers=headers)
    assert (reply.status_code, ui.runs()) == (415, before)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_a_mutation_of_another_origin_is_refused(ui: DagsterUi, headers: dict[str, str]) -> None:
    before = ui.runs()
    reply = ui.ask(LAUNCH, **headers)
    assert (reply.status_code, reply.json()["error"]["code"], ui.runs()) == (403, "cross_site", before)


def test_another_name_for_this_machine_is_refused(ui: DagsterUi) -> None:
    reply = ui.ask(RUNS, host=f"evil.example:{ui.port}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "unknown_host")
    assert "KB_ALLOWED_HOSTS" in reply.json()["error"]["message"]
    assert httpx.get(f"{ui.url}/server_info", headers={"host": "evil.example"}).status_code == 400


def test_its_own_page_and_programs_start_runs(ui: DagsterUi) -> None:
    before = ui.runs()
    own = {"origin": ui.url, "sec-fetch-site": "same-origin"}
    for headers in ({}, own):
        launched = ui.ask(LAUNCH, **headers).json()["data"]["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess"
        ui.ask(CANCEL % launched["run"]["runId"]).raise_for_status()  # what it does is not asked here
    assert ui.runs() == before + 2


HOSTILE = """<!doctype html><title>hostile</title><script>
const target = "TARGET", launch = LAUNCH;
const settled = [];
function noted(promise) { settled.push(promise.then(() => 1, () => 1)); }
function element(make) {
  const made = make();
  noted(new Promise(done => { made.onload = made.onerror = done; }));
  document.documentElement.append(made);
}
const read = target + "/graphql?query=" + encodeURIComponent(launch);
element(() => Object.assign(new Image(), {src: read}));
element(() => Object.assign(document.createElement("script"), {src: read}));
element(() => Object.assign(document.createElement("iframe"), {src: read}));
const body = JSON.stringify({query: launch});
for (const type of ["text/plain", "application/x-www-form-urlencoded"])
  noted(fetch(read, {method: "POST", mode: "no-cors", headers: {"content-type": type}, body}));
noted(fetch(read, {method: "POST", mode: "no-cors", body: new Blob([body])}));
noted(fetch(target + "/graphql", {method: "POST", headers: {"content-type": "application/json"}, body}));
navigator.sendBeacon(read, new Blob([body], {type: "text/plain"}));
function form() {
  const frame = Object.assign(document.createElement("iframe"), {name: "answer"});
  const made = Object.assign(document.createElement("form"), {action: read, method: "post", target: "answer"});
  made.enctype = "text/plain";
  document.documentElement.append(frame, made);
  noted(new Promise(done => { frame.onload = done; setTimeout(done, 3000); }));
  made.submit();
}
form();
window.opened = false;
noted(new Promise(done => {
  const socket = new WebSocket(target.replace("http", "ws") + "/graphql", "graphql-ws");
  socket.onopen = () => { window.opened = true; done(); };
  socket.onerror = done;
}));
window.finished = Promise.all(settled);
</script>"""


@pytest.fixture(scope="module")
def hostile_page(ui: DagsterUi) -> Iterator[int]:
    """The port of another site's page, which tries all that a browser lets it."""
    page = HOSTILE.replace("TARGET", ui.url).replace("LAUNCH", json.dumps(LAUNCH)).encode()

    class Hostile(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(ui: DagsterUi) -> Iterator[Page]:
    with browsing(ui.url, "--host-resolver-rules=MAP evil.example 127.0.0.1") as page:
        yield page


@pytest.mark.browser
@pytest.mark.parametrize("name", ["evil.example", "localhost", "127.0.0.1"])
def test_a_page_of_another_site_starts_nothing(ui: DagsterUi, browser: Page, hostile_page: int, name: str) -> None:
    before = ui.runs()
    browser.goto(f"http://{name}:{hostile_page}/")
    browser.evaluate("window.finished")
    assert browser.evaluate("window.opened") is False, "a WebSocket of another site was accepted"
    assert ui.runs() == before


@pytest.mark.browser
def test_a_page_of_another_site_cannot_frame_it(ui: DagsterUi, browser: Page, hostile_page: int) -> None:
    browser.goto(f"http://evil.example:{hostile_page}/")
    browser.evaluate(
        """url => new Promise(done => {
            const frame = Object.assign(document.createElement("iframe"), {src: url, name: "framed", onload: done});
            document.documentElement.append(frame);
        })""",
        f"{ui.url}/jobs",
    )
    # under load, a frame that was refused may have lost its name
    assert not [frame for frame in browser.frames if frame.url.startswith(f"{ui.url}/jobs")]
    assert any(frame.url.startswith("chrome-error:") for frame in browser.frames)


@pytest.mark.browser
def test_a_name_that_leads_here_by_rebinding_reads_nothing(ui: DagsterUi, browser: Page) -> None:
    reply = browser.goto(f"http://evil.example:{ui.port}/")
    assert reply is not None and reply.status == 400
    asked = "fetch('/graphql', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'})"
    assert browser.evaluate(f"{asked}.then(reply => reply.status)") == 400


@pytest.mark.browser
def test_the_user_interface_itself_works(ui: DagsterUi, browser: Page) -> None:
    sockets: list[str] = []
    browser.on("websocket", lambda socket: sockets.append(socket.url))
    browser.goto(f"{ui.url}/jobs")
    browser.get_by_text("ingest_articles").first.wait_for()
    assert sockets
    opened = f"new Promise(done => {{const s = new WebSocket('ws://127.0.0.1:{ui.port}/graphql', 'graphql-ws');"
    assert browser.evaluate(f"{opened} s.onopen = () => done(true); s.onerror = () => done(false);}})") is True


@pytest.mark.browser
def test_a_stranger_sees_the_flow_and_the_control_room(browser: Page) -> None:
    browser.goto("/asset-groups")
    for group in ("articles", "control_room", "network", "quality"):
        expect(browser.get_by_text(group, exact=True).first).to_be_visible()
    browser.goto("/locations/kb_pipeline/asset-groups/articles")
    for name in ("staged_article", "converted_markdown", "image_descriptions", "chunk_embeddings", "search_index"):
        expect(browser.get_by_text(name).first).to_be_visible()
    picture(browser, "graph")
    browser.goto("/locations/kb_pipeline/asset-groups/control_room")
    for name in ("index_state", "failing_articles", "costs", "removed_articles"):
        expect(browser.get_by_text(name).first).to_be_visible()


@pytest.mark.browser
def test_a_materialization_shows_the_article(browser: Page) -> None:
    browser.goto("/assets/serving_article?view=partitions&partition=alpha")
    expect(browser.get_by_role("heading", name="Article alpha")).to_be_visible()
    expect(browser.get_by_text("images/a.png").first).to_be_visible()
