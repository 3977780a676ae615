"""Twins: an article's page as tagged and untagged PDF (printed by Chromium), DOCX and PPTX (written by pandoc)."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import sync_playwright

from kb_pipeline.limited.browser import system_browser

TWINS = {"PDF, tagged": "tagged.pdf", "PDF, untagged": "untagged.pdf", "DOCX": "twin.docx", "PPTX": "twin.pptx"}
"""Format -> the file of it in an article's folder of twins."""


def make_twins(pages: Iterable[Path], twins: Path) -> None:
    """Make what is missing of ``<twins>/<article id>/`` for these article folders.

    Raises:
        subprocess.CalledProcessError: pandoc cannot convert a page.
    """
    missing = {
        page: files
        for page in pages
        if (files := {file for file in TWINS.values() if not (twins / page.name / file).is_file()})
    }
    for page in missing:
        (twins / page.name).mkdir(parents=True, exist_ok=True)
    _print({page: files for page, files in missing.items() if any(file.endswith(".pdf") for file in files)}, twins)
    for page, files in missing.items():
        for file in sorted(files):
            if not file.endswith(".pdf"):
                target = (twins / page.name / file).absolute()
                command = ["pandoc", "--from", "html", "index.html", "--output", str(target), "--quiet"]
                subprocess.run(command, cwd=page, check=True)


def _print(pages: dict[Path, set[str]], twins: Path) -> None:
    if not pages:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_browser(), args=["--no-sandbox"])
        tab = browser.new_page()
        for page, files in pages.items():
            tab.goto((page / "index.html").absolute().as_uri())
            for file in files & {TWINS["PDF, tagged"], TWINS["PDF, untagged"]}:
                tagged = file == TWINS["PDF, tagged"]
                tab.pdf(path=str(twins / page.name / file), tagged=tagged, outline=tagged)
        browser.close()
