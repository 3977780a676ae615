"""A real DokuWiki is taken in as a website: its pages with their pictures, tables and links, and nothing twice."""

import io
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from kb_pipeline.intake.running import Taken, run
from kb_pipeline.intake.website.options import WebsiteOptions
from kb_pipeline.intake.website.source import WebsiteSource
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.ports import free_port, wait_for

PLACE = Path(__file__).parents[3] / ".venv" / "share" / "dokuwiki"
pytestmark = [
    pytest.mark.skipif(
        not (PLACE / "doku.php").exists() or shutil.which("php") is None,
        reason="there is no DokuWiki; scripts/dokuwiki.sh gets it",
    ),
    pytest.mark.rare("starts a wiki, which apt must have"),
]
_SETTINGS = """<?php
$conf['title'] = 'Plant'; $conf['savedir'] = './data'; $conf['useacl'] = 0;
$conf['indexdelay'] = 0; // else pages of the last five days ask not to be indexed
"""
_PAGES = {
    "start": "====== Plant ======\nEvery shift has to read [[pump:use]] and [[valve]] before it begins.",
    "valve": f"====== Valve ======\n{PROSE}",
    "pump/use": f"""====== Using the pump ======
{PROSE} {{{{pump:panel.png?400|The panel}}}}

===== Stopping =====
  - Close the [[:valve|valve]].
  - Wait until the gauge shows nothing.

^ Bars ^ Meaning ^
| 3 | ready |
""",
}


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address and the folder of a wiki with three pages."""
    folder = tmp_path / "wiki"
    shutil.copytree(PLACE, folder)
    shutil.rmtree(folder / "data" / "pages")
    (folder / "conf" / "local.php").write_text(_SETTINGS)
    for name, text in _PAGES.items():
        put(folder, name, text)
    picture = io.BytesIO()
    Image.new("RGB", (640, 480), "red").save(picture, "PNG")
    (folder / "data" / "media" / "pump").mkdir(parents=True)
    (folder / "data" / "media" / "pump" / "panel.png").write_bytes(picture.getvalue())
    url = f"http://127.0.0.1:{free_port()}/"
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            ["php", "-S", url.removeprefix("http://").strip("/"), "-t", str(folder)],
            env={**os.environ, "PHP_CLI_SERVER_WORKERS": "4"}, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            wait_for(f"{url}doku.php", server, 60)
            yield url, folder
        finally:
            os.killpg(server.pid, signal.SIGKILL)  # its workers as well
            server.wait()


def put(folder: Path, name: str, text: str) -> None:
    path = folder / "data" / "pages" / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def take_in(url: str, settings: Settings) -> Taken:
    # each picture has a page of its own, which only tells its size
    given = {"kind": "website", "url": url, "allow_private": True, "rate": 1000, "exclude": ["lib/exe/detail*"]}
    return run(WebsiteSource("wiki", WebsiteOptions.model_validate(given), settings), settings)


def test_each_page_becomes_an_article_once(wiki: tuple[str, Path], settings: Settings) -> None:
    url, folder = wiki
    taken = take_in(url, settings)
    assert (len(taken.new), taken.refused) == (3, {})
    results = build_here(settings)
    assert {result.error for result in results.values()} == {None}
    articles = {path.parent.name: path.read_text() for path in (settings.home_path / "serving").glob("*/article.md")}
    (own, pump), *others = [each for each in articles.items() if "# Using the pump" in each[1]]
    assert not others
    assert "| 3 | ready |" in pump
    assert "1. Close the [valve](" in pump
    assert f"{PROSE}" in pump
    assert list((settings.home_path / "serving" / own / "images").iterdir())
    assert (take_in(url, settings).unchanged, take_in(url, settings).changed) == (3, [])
    put(folder, "valve", "====== Valve ======\nThe valve opens to the right since it was replaced in May of this year.")
    assert len(take_in(url, settings).changed) == 1
