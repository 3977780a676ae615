"""What is restored of an article after a service had it: images and links in their places, of how many.

    python -m benchmarks.restoring STAGING [STAGING ...] [--limit N] [--before FILE.json]

Services are the doubles of the tests: markdownify or a reader of printed pages, with the habits of
``kb_pipeline_tests.service_habits``: the figures say how much damage can be undone, not how much a service does.
An image is placed rightly if it stands at most five words away from where the article shows it; a link, if it leads to
the article's target and begins that close to where the article's does. Words are compared here by rapidfuzz alone, not
by the code that restores. ``--before`` shows the figures of an earlier run beside these.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from benchmarks.measure import machine
from kb_pipeline.analyzers.mistral.pdf import print_pdf
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.restore import restore_article, service_html
from kb_pipeline_tests.content_understanding_markdown import cu_markdown
from kb_pipeline_tests.mistral_reader import read_pages, written_lines
from kb_pipeline_tests.service_habits import CONTENT_UNDERSTANDING, MISTRAL

_NEAR = 5
_TOKEN = re.compile(
    r"\[\[IMG:(?P<file>[^\]]+)\]\]|(?P<open>(?<![\\!])\[)|\]\((?P<target><[^>]*>|[^()\s]*)\)|(?P<word>[^\W_]+)"
)


Report = dict[str, Any]


class Placed(NamedTuple):
    """An image, or a link, and the number of words before it."""

    name: str
    words_before: int


class Text(NamedTuple):
    """Words in order, and what stands between them."""

    words: list[str]
    images: list[Placed]
    links: list[Placed]


def read(markdown: str) -> Text:
    """Read our markdown: words without signs, markers, and links with the word at which they begin."""
    text, begun = Text([], [], []), [0]
    for token in _TOKEN.finditer(markdown):
        if token["file"]:
            text.images.append(Placed(token["file"], len(text.words)))
        elif token["open"]:
            begun.append(len(text.words))
        elif token["target"] is not None:
            start = begun.pop() if len(begun) > 1 else len(text.words)
            text.links.append(Placed(token["target"], start))
        else:
            text.words.append(token["word"].casefold())
    return text


def placed_rightly(truth: Text, result: Text) -> tuple[int, int]:
    """Count the images and the links of ``truth`` that ``result`` has in the same places."""
    places = _places(truth.words, result.words)
    return _near(truth.images, result.images, places), _near(truth.links, result.links, places)


def _places(truth: Sequence[str], result: Sequence[str]) -> list[int]:
    """For each number of words before a place in ``truth``, the number of words before it in ``result``."""
    places = [0] * (len(truth) + 1)
    for code in Levenshtein.opcodes(truth, result):
        for step in range(code.src_end - code.src_start):
            places[code.src_start + step] = min(code.dest_start + step, code.dest_end)
    places[len(truth)] = len(result)
    return places


def _near(truth: Sequence[Placed], result: Sequence[Placed], places: Sequence[int]) -> int:
    left = list(result)
    right = 0
    for name, before in truth:
        # a running head may stand between the words on both sides, so either of them will do
        expected = {places[before], places[before - 1] + 1 if before else 0}
        near = (one for one in left if any(abs(one.words_before - place) <= _NEAR for place in expected))
        found = next((one for one in near if one.name == name), None)
        if found:
            left.remove(found)
            right += 1
    return right


def main() -> None:
    """Damage, restore, compare, and store the figures."""
    arguments = _arguments()
    before = json.loads(arguments.before.read_text()) if arguments.before else None
    rows: dict[str, Counter[str]] = {}
    articles: Counter[str] = Counter()
    for folder in arguments.staging:
        for article in _sample(folder, arguments.limit):
            articles[folder.name] += 1
            for double, local, restored in _restored(article, with_print=not arguments.no_print):
                rows.setdefault(double, Counter()).update(_figures(local, restored))
    report: Report = {
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "articles": articles,
        "results": rows,
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report, before))
    print(table(report, before))


def _restored(article: Path, *, with_print: bool) -> Iterator[tuple[str, ConvertedArticle, ConvertedArticle]]:
    html, images = (article / "index.html").read_bytes(), _images(article)
    local, page = convert_html(article.name, html, images), service_html(article.name, html, images)
    for name, habits in CONTENT_UNDERSTANDING.items():
        double = f"Content Understanding, {name}"
        yield double, local, restore_article(local, cu_markdown(page, habits), double)
    if with_print:
        pages = read_pages(print_pdf(page), written_lines)
        for name, habits in MISTRAL.items():
            double = f"Mistral, {name}"
            yield double, local, restore_article(local, [habits.of(one) for one in pages], double)


def _figures(local: ConvertedArticle, restored: ConvertedArticle) -> Mapping[str, int]:
    truth, result = read(local.markdown), read(restored.markdown)
    images, links = placed_rightly(truth, result)
    refused = any(not check.passed for check in check_conversion(restored))
    wrong = images < len(truth.images) or links < len(truth.links)
    return {
        "articles": 1,
        "images": len(truth.images),
        "images_right": images,
        "links": len(truth.links),
        "links_right": links,
        "refused": refused,
        "wrong": wrong,
        "wrong_published": wrong and not refused,
    }


@cache
def _images(article: Path) -> dict[str, ImageInfo]:
    files = [file for file in article.rglob("*") if file.is_file() and file.suffix not in (".html", ".json")]
    named = {file.relative_to(article).as_posix(): file for file in files}
    return {name: probe_image(name, file.read_bytes()) for name, file in named.items()}


def _sample(folder: Path, limit: int) -> list[Path]:
    articles = sorted(page.parent for page in folder.glob("*/index.html"))
    return sorted(random.Random(folder.name).sample(articles, min(limit, len(articles))))


def table(report: Report, before: Report | None = None) -> str:
    """The figures as markdown; those of an earlier run stand before an arrow."""
    articles = ", ".join(f"{folder} {count}" for folder, count in report["articles"].items())
    lines = [
        "# Restoring images and links",
        "",
        f"{sum(report['articles'].values())} articles ({articles}), {report['at'][:10]}. Services are doubles, so this "
        "is what can be undone, not what a real service does.",
        "",
        "| double | images placed rightly | links restored | refused | something misplaced | of these published |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in report["results"].items():
        old = before["results"].get(name) if before else None
        cells = [
            _cell(row, old, *kinds)
            for kinds in (("images_right", "images"), ("links_right", "links"), ("refused",), ("wrong",))
        ]
        lines.append(f"| {name} | {' | '.join(cells)} | {_cell(row, old, 'wrong_published')} |")
    return "\n".join(lines) + "\n"


def _cell(row: Mapping[str, int], old: Mapping[str, int] | None, count: str, total: str | None = None) -> str:
    earlier = f"{old[count]:,} → " if old and old[count] != row[count] else ""
    return f"{earlier}{row[count]:,}" + (f" of {row[total]:,}" if total else "")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", type=Path, nargs="+", help="staging folders with HTML articles")
    parser.add_argument("--limit", type=int, default=50, help="articles of each folder")
    parser.add_argument("--no-print", action="store_true", help="leave out the doubles that read printed pages")
    parser.add_argument("--before", type=Path, help="figures of an earlier run, to show beside these")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "restoring.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
