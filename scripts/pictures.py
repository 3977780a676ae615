"""Makes the pictures of the documentation anew: ``make pictures``, or ``scripts/pictures.py [NAME ...]`` for some.

Ingests the sample articles into a temporary home, runs ``kb serve`` on free ports, and plays through what the pages
describe while Chromium takes the pictures. It takes about five minutes, and writes to ``docs/pictures`` only.
"""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from kb_pipeline_tests.dagster_ui import KB, browsing  # noqa: E402
from kb_pipeline_tests.ports import free_port  # noqa: E402
from kb_pipeline_tests.visiting import wait_for  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
PAGE = {"width": 1400, "height": 900}
WIDE = {"width": 1440, "height": 900}
DAGSTER = {"width": 1440, "height": 860}
GRAPH = {"width": 2000, "height": 800}
COLOURS = 256
QUESTIONS = (
    "Why did my rule not run?",
    "Where do I set business hours?",
    "How do I change the permissions of one user?",
)
LAUNCHPAD = """\
ops:
  ingest:
    config:
      articles: [webhooks, rest-api]
resources:
  kb:
    config:
      analyzer: content-understanding
"""


class Studio:
    """A knowledge base of the samples, the servers on it, and a browser; ``names`` are the pictures that are wanted."""

    def __init__(self, folder: Path, names: set[str]) -> None:
        self.staging = folder / "staging"
        self._folder = folder
        self._names = names
        shutil.copytree(ROOT / "samples" / "staging", self.staging)
        ports = {name: str(free_port()) for name in ("KB_PAGE_PORT", "KB_APP_PORT", "KB_DAGSTER_PORT")}
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_"))}
        self._environment = (
            clean
            | ports
            | {
                "KB_STAGING": str(self.staging),
                "KB_HOME": str(folder / "home"),
                "KB_EVALUATION": str(ROOT / "samples" / "evaluation"),
                "KB_SCENARIOS": str(ROOT / "samples" / "scenarios"),
                "KB_WATCH": "false",
                "KB_SETTLE_SECONDS": "0",
                "PAID_LEDGER": str(folder / "ledger"),
                "PYTHONPATH": str(ROOT),
            }
        )
        self.page_url = f"http://127.0.0.1:{ports['KB_PAGE_PORT']}"
        self.dagster_url = f"http://127.0.0.1:{ports['KB_DAGSTER_PORT']}"

    def kb(self, *arguments: str, **settings: str) -> None:
        """Run a command to its end; 1 as an exit code is part of the story."""
        print("kb", *arguments, settings or "", flush=True)
        done = subprocess.run([KB, *arguments], env=self._environment | settings, cwd=self._folder, check=False)
        if done.returncode > 1:
            raise SystemExit(f"kb {' '.join(arguments)} ended with {done.returncode}")

    def edit(self, article_id: str, sentence: str) -> None:
        """Add a sentence to the end of an article's first paragraph, as its author might."""
        page = self.staging / article_id / "index.html"
        page.write_text(page.read_text().replace("</p>", f" {sentence}</p>", 1))

    @contextmanager
    def served(self) -> Iterator[None]:
        """``kb serve``, until the pictures are taken."""
        serving = subprocess.Popen([KB, "serve"], env=self._environment, cwd=self._folder)
        try:
            wait_for(f"{self.dagster_url}/server_info", serving, seconds=120)
            yield
        finally:
            serving.send_signal(signal.SIGTERM)
            serving.wait(60)

    def take(self, name: str, shown: Page | Locator, *, seconds: float = 2) -> None:
        """Save what is shown as a small PNG, once everything on it has come to rest."""
        if name not in self._names:
            return
        page = shown if isinstance(shown, Page) else shown.page
        page.wait_for_load_state("networkidle")
        page.mouse.move(0, 0)
        page.wait_for_timeout(1000 * seconds)
        picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
        path = PICTURES / f"{name}.png"
        picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes", flush=True)


def chat(studio: Studio, page: Page) -> None:
    """Answers, and the source of one."""
    page.goto(studio.page_url)
    for number, question in enumerate(QUESTIONS):
        if number:
            page.goto(studio.page_url)
        page.get_by_test_id("stChatInput").locator("textarea").fill(question)
        page.keyboard.press("Enter")
        expect(page.locator(".kb-answer button.kb-ref").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1500)
        if question == QUESTIONS[1]:
            page.locator(".kb-answer button.kb-ref").first.click()
            expect(page.locator(".st-key-source-panel").locator("mark").first).to_be_visible()
            studio.take("chat-source", page)
    page.locator(".kb-answer img").first.scroll_into_view_if_needed()
    studio.take("chat", page)


def knowledge_base(studio: Studio, page: Page) -> None:
    """The articles."""
    page.goto(f"{studio.page_url}/knowledge-base")
    expect(page.get_by_text("SLA policies").first).to_be_visible()
    studio.take("knowledge-base", page)


def network(studio: Studio, page: Page) -> None:
    """An investigation of the sample's alerts."""
    studio.kb("scenario", "load")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.goto(f"{studio.page_url}/network")
    page.get_by_role("button", name="Use the sample").click()
    expect(page.get_by_role("textbox", name="Alerts, as they came")).to_have_value(re.compile("LINK_DOWN"))
    page.get_by_role("button", name="Investigate", exact=True).click()
    expect(page.locator(".kb-report")).to_be_visible()
    page.get_by_text("6 steps ·").click()
    expect(page.locator(".map[data-settled]")).to_be_attached()
    studio.take("network", page)


def quality(studio: Studio, page: Page) -> None:
    """The scores over time, and questions that were won."""
    page.goto(f"{studio.page_url}/quality")
    expect(page.locator("[class*=st-key-measure-] canvas, [class*=st-key-measure-] svg.marks").first).to_be_visible()
    studio.take("quality-page", page)
    page.get_by_role("tab").last.click()
    changed = page.locator("details.kb-known").first
    changed.click()
    expect(changed.locator("h4").first).to_be_visible()
    studio.take("quality-questions", page)


def flow(studio: Studio, page: Page) -> None:
    """The graph, one partition of an asset, and its article."""
    page.set_viewport_size(GRAPH)  # type: ignore[arg-type]
    page.goto("/locations/kb_pipeline/asset-groups/articles")
    expect(page.get_by_text("chunk_embeddings").first).to_be_visible()
    page.get_by_text("Hide navigation").click()
    studio.take("graph", page, seconds=12)  # the states of the assets come last
    page.set_viewport_size(DAGSTER)  # type: ignore[arg-type]
    page.goto("/assets/serving_article?view=partitions&partition=sla-policies")
    expect(page.get_by_text("[Show Markdown]").first).to_be_visible()
    studio.take("partition", page)
    page.get_by_text("[Show Markdown]").first.click()
    article = page.get_by_role("dialog").last
    expect(article.get_by_text("Set up SLA policies").first).to_be_visible()
    studio.take("article", article)


def launchpad(studio: Studio, page: Page) -> None:
    """A run with another analyzer."""
    page.goto("/locations/kb_pipeline/jobs/ingest_articles/playground")
    editor = page.locator(".CodeMirror").first
    expect(editor).to_be_visible()
    editor.evaluate("(element, text) => element.CodeMirror.setValue(text)", LAUNCHPAD)
    expect(page.get_by_role("button", name="Launch Run")).to_be_enabled()
    studio.take("choose-analyzer", page)


def scores(studio: Studio, page: Page) -> None:
    """The history of the scores in Dagster, and a generation that the gate refuses."""
    page.goto("/assets/retrieval_quality")
    expect(page.get_by_text("history").first).to_be_visible()
    page.get_by_text("[Show Markdown]").first.click()
    expect(page.get_by_role("dialog").locator("img").first).to_be_visible()
    studio.take("quality-asset", page)
    studio.kb("ingest", KB_EMBEDDER="hashing")
    page.goto("/assets/retrieval_quality?view=checks&checkDetail=not_worse")
    expect(page.get_by_text("is not promoted").first).to_be_visible()
    studio.take("quality-gate", page)


def diagnosis(studio: Studio, page: Page) -> None:
    """How often the diagnosis names the right cause, and which incident it misses."""
    studio.kb("scenario", "load", "--no-ingest")
    studio.kb("scenario", "evaluate")
    page.goto("/assets/diagnosis_quality?view=partitions&partition=telco")
    expect(page.get_by_text("had failed").first).to_be_visible()
    studio.take("diagnosis-asset", page)


def failures(studio: Studio, page: Page) -> None:
    """A new version that lost its tables, and an article that cannot be read."""
    studio.edit("sla-policies", "Ask an administrator if you are not sure.")
    studio.kb("ingest", "--article", "sla-policies", KB_ANALYZER="kb_pipeline_tests.doubles:LossyAnalyzer")
    page.goto("/assets/converted_markdown?view=checks&checkDetail=structure_is_preserved")
    expect(page.get_by_text("sla-policies").first).to_be_visible()
    studio.take("blocking-check", page)
    studio.edit("sla-policies", "The default policy applies to all others.")  # the lossy one calls itself the same
    studio.kb("ingest", "--article", "sla-policies")

    (studio.staging / "broken").mkdir()
    (studio.staging / "broken" / "index.html").write_bytes(b"%PDF-1.7")
    studio.kb("ingest", "--article", "broken")
    page.goto("/assets/converted_markdown?view=partitions&partition=broken")
    expect(page.get_by_text("Failed (1)")).to_be_visible()
    studio.take("failing-article", page)
    page.goto("/assets/failing_articles")
    expect(page.get_by_text("is a PDF, not HTML").first).to_be_visible()
    studio.take("failing-articles", page)


def deletion(studio: Studio, page: Page) -> None:
    """The history of the index after an article was removed."""
    shutil.rmtree(studio.staging / "canned-responses")
    studio.kb("remove", "canned-responses", "--yes")
    page.goto("/assets/search_index?view=events")
    expect(page.get_by_text("canned-responses").first).to_be_visible()
    studio.take("deletion", page)


SCENES: dict[Callable[[Studio, Page], None], tuple[str, ...]] = {
    chat: ("chat-source", "chat"),
    knowledge_base: ("knowledge-base",),
    network: ("network",),
    quality: ("quality-page", "quality-questions"),
    flow: ("graph", "partition", "article"),
    launchpad: ("choose-analyzer",),
    scores: ("quality-asset", "quality-gate"),
    diagnosis: ("diagnosis-asset",),
    failures: ("blocking-check", "failing-article", "failing-articles"),
    deletion: ("deletion",),
}
"""What each scene shows, in the order in which it happens: later ones leave failures behind."""
OF_THE_PAGE = (chat, knowledge_base, network, quality)


def main() -> None:
    """Take the pictures that the command line names, or all."""
    everything = {name for names in SCENES.values() for name in names}
    wanted = set(sys.argv[1:]) or everything
    if unknown := wanted - everything:
        raise SystemExit(f"there are no pictures {', '.join(sorted(unknown))}; choose from {', '.join(everything)}")
    with tempfile.TemporaryDirectory(prefix="kb-pictures-") as folder:
        studio = Studio(Path(folder), wanted)
        studio.kb("ingest", KB_EMBEDDER="wordllama")  # a first generation, so that there is a history
        studio.kb("evaluate", KB_EMBEDDER="wordllama")
        studio.edit("sla-policies", "Review your policies once a year.")
        studio.kb("ingest")
        studio.kb("evaluate")
        with studio.served(), browsing(studio.dagster_url) as page:
            for scene, names in SCENES.items():
                if wanted.intersection(names):
                    print(scene.__doc__, flush=True)
                    page.set_viewport_size(PAGE if scene in OF_THE_PAGE else DAGSTER)  # type: ignore[arg-type]
                    scene(studio, page)


if __name__ == "__main__":
    main()
