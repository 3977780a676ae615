"""Everything that is shipped may be shipped: its licence is known, allowed, and in ``THIRD_PARTY.md``."""

import hashlib
import re
from pathlib import Path

import pytest

from kb_pipeline_tests.licences import (
    ALLOWED,
    BEGINNING,
    CARRIED,
    EXCEPTIONS,
    ROOT,
    TABLE,
    UNSAID,
    VENDORED,
    carrying,
    installed,
    is_allowed,
    licence,
    packages,
    said_licence,
    table,
)


def test_every_package_has_a_licence_that_is_allowed_or_an_exception_with_a_reason() -> None:
    refused = {
        name: licence(name) or "unknown"
        for name in packages()
        if (name in installed() or name in UNSAID) and name not in EXCEPTIONS and not is_allowed(licence(name))
    }
    assert refused == {}, "look for another package, or add an exception to kb_pipeline_tests/licences.py"


def test_no_exception_and_nothing_said_by_hand_is_out_of_date() -> None:
    assert EXCEPTIONS.keys() <= packages().keys()
    assert UNSAID.keys() <= packages().keys()
    assert [name for name in EXCEPTIONS if is_allowed(licence(name))] == []
    assert [
        name
        for name in UNSAID
        if name in installed() and is_allowed(said_licence(name)) and said_licence(name) != "BSD"
    ] == []


def rows(document: str) -> dict[str, str]:
    found = re.findall(r"^\| ([\w.-]+) \| (.*) \|$", document, re.MULTILINE)
    return {name: rest for name, rest in found if name != "package"}


def test_the_document_lists_what_the_lock_files_do() -> None:
    written, expected = rows(TABLE.read_text()), rows(table())
    assert written.keys() == packages().keys(), "run: make licences"
    # what other platforms or versions of Python install was written on one of those
    ours = [name for name in expected if name in installed() or name in UNSAID]
    assert {name: written[name] for name in ours} == {name: expected[name] for name in ours}, "run: make licences"
    assert all(rest.partition(" | ")[0] for rest in written.values()), "a licence is missing"
    assert TABLE.read_text().startswith(BEGINNING), "run: make licences"
    assert TABLE.read_text().split("\n## ")[1:] == table().split("\n## ")[1:], "run: make licences"


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(("named", "kind"), CARRIED)
def test_libraries_fonts_and_models_inside_packages_are_named(named: dict[str, str], kind: re.Pattern[str]) -> None:
    assert carrying(kind) <= named.keys()
    assert named.keys() <= packages().keys()


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 AND (MIT OR BSD-3-Clause)", True),
        ("GPL-3.0-or-later", False),
        ("MIT AND GPL-2.0-only", False),
        ("MIT OR GPL-2.0-only", False),
        ("AGPL-3.0-only WITH Something-exception", False),
        ("Proprietary", False),
        ("", False),
    ],
)
def test_only_listed_licences_are_allowed(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed
    assert not {"GPL-2.0-only", "AGPL-3.0-only", "SSPL-1.0", "BUSL-1.1"} & ALLOWED


OURS = {
    *(".py", ".json", ".jsonl", ".css", ".js", ".svg", ".html", ".image", ".md", ".png", ".toml", ".yaml", ".txt"),
    *(".docx", ".pdf", ".pptx", ".csv"),  # documents of ours among the samples
}


def shipped_files() -> list[Path]:
    folders = [ROOT / name for name in ("app", "kb_pipeline", "samples")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if "__pycache__" not in path.parts]


@pytest.mark.parametrize("name", VENDORED)
def test_files_of_others_are_as_they_were_published(name: str) -> None:
    assert hashlib.sha256((ROOT / name).read_bytes()).hexdigest() == VENDORED[name].sha256
    assert is_allowed(VENDORED[name].licence)


def test_a_bundled_script_comes_with_the_licences_of_all_that_is_in_it() -> None:
    texts = (ROOT / "app/page/vendor/force-graph.licences.txt").read_text()
    assert texts.count("Permission is hereby granted") + texts.count("Permission to use, copy, modify") >= 25


def test_the_repository_itself_carries_nothing_else_of_others() -> None:
    files = [path for path in shipped_files() if path.relative_to(ROOT).as_posix() not in VENDORED]
    assert len(files) > 100
    assert [path for path in files if path.suffix not in OURS] == [], "a font, a model or a binary?"
    texts = [path for path in files if path.suffix in (".css", ".js", ".svg")]
    foreign = re.compile(rb"copyright|licen[cs]e|@preserve|sourceMappingURL", re.IGNORECASE)
    assert [path for path in texts if foreign.search(path.read_bytes())] == [], "somebody else's style or script?"
