"""The pages of the documentation lead somewhere, and name what exists."""

import re
from pathlib import Path

import pytest

from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.steps.formats import endings
from kb_pipeline_tests.deploy.files import OF_DEPLOYING, ROOT, SETTINGS
from kb_pipeline_tests.deploy.test_azure_guide import anchors
from kb_pipeline_tests.docs_site import LINK, links

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "samples").rglob("README.md")),
    *sorted((ROOT / "benchmarks").rglob("*.md")),
]
PREFIXES = {"KB_CHAT", "KB_OPENAI", "KB_STAGING", "KB_SERVING"}
"""Of settings that are named together, like KB_CHAT_*."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked.read_text()), target


@each_page
def test_settings_exist(page: Path) -> None:
    text = re.sub(r"^### Removed\n.*?(?=^##)", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"\bKB_[A-Z][A-Z_]*[A-Z]\b(?!_\*)", text))
    assert named <= SETTINGS | OF_DEPLOYING | PREFIXES


def test_the_table_of_formats_has_every_ending() -> None:
    table = (ROOT / "docs/documents.md").read_text().partition("\n| format | file |")[2].partition("\n\n")[0]
    assert [ending for ending in endings() if f"`{ending}`" not in table] == []


def test_each_risk_and_chapter_of_owasp_has_tests_or_is_not_promised() -> None:
    rows = re.findall(r"^\| (LLM\d\d|V\d+) \| (.*) \|$", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    expected = [*(f"LLM{number:02}" for number in range(1, 11)), *(f"V{number}" for number in range(1, 18))]
    assert [name for name, _ in rows] == expected
    for name, cells in rows:
        tests = LINK.findall(cells)
        assert tests or "not promised: " in cells, name
        assert all(re.fullmatch(r"kb_pipeline_tests/.*/?test_\w+\.py", path) for path in tests), name
        assert all((ROOT / path).is_file() for path in tests), name


def test_every_picture_is_shown_and_can_be_made_anew() -> None:
    shown = {Path(target).name for page in PAGES for target in links(page) if target.endswith(".png")}
    assert shown == {path.name for path in (ROOT / "docs/pictures").iterdir()}
    script = (ROOT / "scripts/pictures.py").read_text()
    assert [name for name in sorted(shown) if f'"{name.removesuffix(".png")}"' not in script] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1500


@pytest.mark.parametrize("package", ["kb_pipeline", "app"])
def test_the_map_names_every_folder(package: str) -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    the_map = page.partition("\n## The map\n")[2].partition("\n## ")[0]
    folders = {path.parent.relative_to(ROOT / package).parts[0] for path in (ROOT / package).glob("*/__init__.py")}
    assert [folder for folder in sorted(folders) if f"  {folder}/" not in the_map] == []


def test_the_table_of_checks_has_them_all_with_their_layer_and_what_they_do() -> None:
    rows = re.findall(r"^\| `(\w+)`( \(warns\))? \| (?:`(\w+)` )?\|", (ROOT / "docs/control-room.md").read_text(), re.M)
    assert [(name, not warns) for name, warns, _ in rows] == [(spec.name, spec.blocking) for spec in CHECKS.values()]
    assert [layer for _, _, layer in rows if layer] == list(dict.fromkeys(spec.layer for spec in CHECKS.values()))
