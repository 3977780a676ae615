"""What ``make up`` does, and all that is served then, in a network namespace in which every packet is counted."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline_tests.dagster_ui import KB, ROOT
from kb_pipeline_tests.nowhere import sent_by, unavailable

pytestmark = [
    pytest.mark.slow("starts what it looks at, and a browser"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(reason := unavailable()), reason=f"no network namespace of its own: {reason}"),
]

SENDS = """
import socket
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8:1::1")):
    with socket.socket(family, socket.SOCK_DGRAM) as told, socket.socket(family) as asked:
        told.sendto(b"x", (address, 9))
        asked.setblocking(False)
        asked.connect_ex((address, 443))
try:
    socket.getaddrinfo("telemetry.example", 443)
except OSError:
    print("unanswered")
"""
PRINTS = """
from kb_pipeline.analyzers.mistral.pdf import print_pdf
page = '<h1>Title</h1><img src="http://elsewhere.example/a.png"><iframe src="http://192.0.2.1/"></iframe>'
print(print_pdf(page + '<script>fetch("http://192.0.2.1/")</script>')[:5])
"""
PAGE = """<body><h1>Webhooks</h1><h2>Create a webhook</h2>
<p>To create a webhook, open Settings, click New webhook, and enter the address that it calls.</p></body>"""

Run = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a user is at home, and has one of the sample articles to begin with, and the questions that it answers."""
    place = tmp_path_factory.mktemp("nowhere")
    (place / "user").mkdir()
    shutil.copytree(ROOT / "samples/staging/webhooks", place / "staging/webhooks")
    (place / "evaluation").mkdir()
    questions = (ROOT / "samples/evaluation/wrendesk.jsonl").read_text().splitlines(keepends=True)
    (place / "evaluation/webhooks.jsonl").write_text("".join(each for each in questions if "webhooks" in each))
    return place


@pytest.fixture
def run(place: Path) -> Run:
    """Run a command that must send nothing; returns what it said."""
    own = {
        "HOME": str(place / "user"),
        "KB_HOME": str(place / "home"),
        "KB_STAGING": str(place / "staging"),
        "KB_EVALUATION": str(place / "evaluation"),
        "KB_WORKERS": "1",
        "ORT_DISABLE_TELEMETRY": "0",
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_", "XDG_"))}

    def call(*command: str) -> str:
        ran, packets = sent_by(command, place / "report.json", clean | own)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert packets == []
        return ran.stdout

    return call


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_packet_would_be_seen(place: Path) -> None:
    ran, packets = sent_by([sys.executable, "-c", SENDS], place / "report.json")
    assert (ran.returncode, ran.stdout) == (0, "unanswered\n")
    assert {
        *("udp 192.0.2.1 9", "tcp 192.0.2.1 443", "udp 2001:db8:1::1 9", "tcp 2001:db8:1::1 443"),
        "udp 203.0.113.53 53 telemetry.example",
    } == set(packets)


@pytest.mark.rare("a whole run under a packet filter")
def test_an_ingest_with_text_recognition_and_embedding_sends_nothing(run: Run, place: Path) -> None:
    run(KB, "ingest")
    served = (place / "home/serving/webhooks/article.md").read_text()
    assert "UI elements:" in served  # read from the pixels
    assert list((place / "home/models").iterdir())
    assert list((place / "user").rglob("*onnxruntime*")) == []  # where it keeps an id of the machine


@pytest.mark.rare("a whole run under a packet filter")
def test_an_evaluation_sends_nothing(run: Run) -> None:
    assert "article" in run(KB, "evaluate")


@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_answer_sends_nothing(run: Run, place: Path) -> None:
    if not (place / "home/index").exists():  # the tests above, which read pictures, were not asked for
        shutil.rmtree(place / "staging/webhooks")
        (place / "staging/webhooks").mkdir()
        (place / "staging/webhooks/index.html").write_text(PAGE)
        run(KB, "ingest")
    assert "[Ref #" in run(KB, "ask", "How do I create a webhook?")


@pytest.mark.rare("a whole run under a packet filter")
@pytest.mark.browser
def test_nothing_that_is_served_sends_anything_nor_has_a_browser_do_so(run: Run) -> None:
    seen = json.loads(run(sys.executable, "-m", "kb_pipeline_tests.visiting"))
    assert seen["knocks"] == [403, 101, 101]  # another site's page, the proxy's, its own
    assert seen["would_be_seen"]
    assert sorted(seen["reached"]) == sorted([seen["page"], seen["dagster"]])


@pytest.mark.slow("starts what it looks at, and a browser")
@pytest.mark.browser
def test_a_hostile_page_that_is_printed_sends_nothing(run: Run) -> None:
    assert run(sys.executable, "-c", PRINTS) == "b'%PDF-'\n"
