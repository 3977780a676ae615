"""Pages that earlier conversions lost something of: today's keeps all, and the check finds each way to lose it again.

They lie beside a checkout of the project, in ``shared/eval/cases``, not in it.
"""

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from kb_pipeline.records import CheckResult, ImageInfo
from kb_pipeline.steps.checks import read_seen, seen_is_published
from kb_pipeline.steps.html import convert_html, decode, page
from kb_pipeline.steps.images.probe import probe_image

CASES = next(
    (folder for each in Path(__file__).parents if (folder := each / "shared" / "eval" / "cases").is_dir()), None
)
pytestmark = pytest.mark.skipif(CASES is None, reason="shared/eval/cases does not lie beside the project")


CARELESS = {
    "hidden-panels": "[hidden]",
    "inline-controls": "button, input, select",
    "icon-cells": "td span, svg title",
    "lazy-pictures": "img, picture",
    "li-value": "li, ol",
}
"""What of each kind a converter may overlook: elements; of items, lists and icons what their attributes say."""


def pages(*kinds: str) -> list[Path]:
    return [file for kind in kinds for file in sorted((CASES or Path()).glob(f"{kind}/**/*.html"))]


def checked(file: Path, overlooked: str = "") -> CheckResult:
    others = [each for each in file.parent.iterdir() if each.suffix not in (".html", ".md", ".docx")]
    images: dict[str, ImageInfo] = {each.name: probe_image(each.name, each.read_bytes()) for each in others}
    html = decode("case", file.read_bytes())
    converted = convert_html("case", _without(html, overlooked).encode(), images)
    return seen_is_published(converted, read_seen(html, images))


def _without(html: str, overlooked: str) -> str:
    tree = LexborHTMLParser(html)
    for each in tree.css(overlooked) if overlooked else ():
        if each.tag in ("li", "ol", "span"):
            for name in list(each.attributes):
                del each.attrs[name]
        else:
            each.decompose()
    return tree.html or ""


@pytest.mark.parametrize("file", pages(*CARELESS, "class-words", "checkbox-state", "math-twice"), ids=str)
def test_nothing_is_lost_of_it(file: Path) -> None:
    assert checked(file).passed, checked(file).message


@pytest.mark.parametrize(("file", "kind"), [(file, kind) for kind in CARELESS for file in pages(kind)], ids=str)
def test_what_a_converter_overlooks_is_found(file: Path, kind: str) -> None:
    assert not checked(file, CARELESS[kind]).passed


@pytest.mark.parametrize("file", pages("class-words"), ids=str)
def test_a_section_that_is_left_out_for_its_name_is_found(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rule in ("_states_something", "_is_section"):
        monkeypatch.setattr(page, rule, lambda *_: False)
    assert not checked(file).passed


def test_there_are_pages_of_each_kind() -> None:
    assert all(map(pages, CARELESS))
