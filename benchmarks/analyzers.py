"""The analyzers on the same articles, documents and screenshots: what they keep, in its place, how fast, for how much.

    python -m benchmarks.analyzers STAGING [STAGING ...] [--limit N] [--images N] [--only NAME ...] [--doubles]

Services, keys and prices come from the settings (KB_CONTENT_UNDERSTANDING_*, KB_MISTRAL_*, KB_VISION_*, KB_PRICES), as
for ``kb ingest``; an analyzer whose settings are missing is left out, and said so. Everything is paid for: begin with a
small ``--limit``. With ``--doubles``, the stand-ins of the tests take the services' place: that shows that everything
works together, and nothing about the services, so the table says "plumbing only".

The truth is our own reading: the HTML of an article, the source of a document. Words are the share of its text that is
kept, images and links are in their place as :mod:`benchmarks.restoring` counts it, and ``refused`` are those that a
check would keep from readers. Descriptions of images are only timed and priced; read them with ``kb preview``.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import machine
from benchmarks.restoring import placed_rightly, read
from kb_pipeline.analyzers import ANALYZERS
from kb_pipeline.analyzers.read_by_service import share_read
from kb_pipeline.errors import KnowledgeBaseError, MissingExtraError, SettingsError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import ConvertedArticle, ImageInfo, Usage
from kb_pipeline.services.usage import metering, priced, total
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.steps.checks import Control, check_conversion
from kb_pipeline.steps.formats import may_be_picture
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.main_file import format_of, is_document
from kb_pipeline.steps.restore import own_reading

Row = dict[str, Any]


def main() -> None:
    """Convert and describe with each analyzer, and store the figures."""
    arguments = _arguments()
    material = [path for folder in arguments.staging for path in _sample(folder, arguments.limit)]
    rows = {}
    for name in arguments.only or ANALYZERS:
        try:
            with _settings_of(name, doubles=arguments.doubles) as settings:
                rows[name] = _measured(Workspace(settings), material, arguments.images)
        except (SettingsError, MissingExtraError) as exc:
            rows[name] = {"left_out": str(exc)}
        print(f"{name:24} {json.dumps(rows[name])}", flush=True)
    report = {
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "doubles": arguments.doubles,
        "material": len(material),
        "results": rows,
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))


@contextmanager
def _settings_of(name: str, *, doubles: bool) -> Iterator[Settings]:
    """The settings with this analyzer; with ``doubles``, those that lead to the stand-in of its service."""
    values: dict[str, Any] = {}
    with ExitStack() as running:
        if doubles and name == "content-understanding":
            from kb_pipeline_tests.content_understanding_service import content_understanding_service

            values = running.enter_context(content_understanding_service()).settings()
        elif doubles and name == "mistral-doc-ai":
            from kb_pipeline_tests.mistral_service import mistral_service

            values = running.enter_context(mistral_service())
        yield load_settings(**{**values, "analyzer": name})


def _measured(workspace: Workspace, material: Sequence[Path], most_images: int) -> Row:
    counts, used = Counter[str](), list[Usage]()
    words, seconds, problems = list[float](), 0.0, Counter[str]()
    pictures: dict[str, bytes] = {}
    workspace.analyzer.name  # noqa: B018  (opens it, so that missing settings are seen at once)
    for path in material:
        started = time.perf_counter()
        with metering() as usages:
            try:
                truth, converted, control, images = _converted(workspace, path)
            except KnowledgeBaseError as exc:
                problems[type(exc).__name__] += 1
                continue
            finally:
                seconds += time.perf_counter() - started
                used += usages
        pictures |= images
        words.append(share_read(truth.markdown, [converted.markdown]))
        expected, found = read(truth.markdown), read(converted.markdown)
        right = placed_rightly(expected, found)
        counts.update(
            images=len(expected.images), images_right=right[0], links=len(expected.links), links_right=right[1],
            refused=any(not check.passed for check in check_conversion(converted, control)),
        )  # fmt: skip
    return {
        "converted": len(words),
        "failed": dict(problems),
        "words": round(sum(words) / len(words), 3) if words else 0,
        **counts,
        "seconds_each": round(seconds / len(material), 2),
        "cost": _cost(workspace, used),
        "usage": [usage.model_dump(exclude_defaults=True) for usage in total(used)],
        "descriptions": _described(workspace, pictures, most_images),
    }


def _converted(
    workspace: Workspace, path: Path
) -> tuple[ConvertedArticle, ConvertedArticle, Control, Mapping[str, bytes]]:
    """Our own reading of an article or a document, that of the analyzer, what the checks need, and its images."""
    analyzer, article_id = workspace.analyzer, path.name
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file() and may_be_picture(file.name)]
        data = {file.relative_to(path).as_posix(): file.read_bytes() for file in files}
        images = {name: workspace.images.probe(name, body) for name, body in data.items()}
        html = (path / "index.html").read_bytes()
        return convert_html(article_id, html, images), analyzer.convert(article_id, html, images), Control(), data
    body, file_format = path.read_bytes(), format_of(path.name)
    by_ocr = file_format not in analyzer.readers
    document = workspace.source_of(article_id, file_format, by_ocr=by_ocr).read(article_id, path.name, body)
    inside: dict[str, ImageInfo] = {name: workspace.images.probe(name, png) for name, png in document.images.items()}
    truth = own_reading(article_id, path.name, document.html, inside, document.pages, document.left_out).article
    converted = analyzer.convert_document(article_id, path.name, body, document, inside)
    control = Control(document.control, document.left_out, document.outline)
    return truth, converted.model_copy(update={"pages": document.pages}), control, document.images


def _described(workspace: Workspace, pictures: Mapping[str, bytes], most: int) -> Row:
    used, started, done = list[Usage](), time.perf_counter(), 0
    problems = Counter[str]()
    for name in random.Random("pictures").sample(sorted(pictures), min(most, len(pictures))):
        try:
            with metering() as usages:
                workspace.analyzer.describe(workspace.images.to_png(pictures[name]).data)
            used += usages
            done += 1
        except KnowledgeBaseError as exc:
            problems[type(exc).__name__] += 1
    each = (time.perf_counter() - started) / max(1, done)
    return {"images": done, "failed": dict(problems), "seconds_each": round(each, 2), "cost": _cost(workspace, used)}


def _cost(workspace: Workspace, used: Sequence[Usage]) -> float | None:
    """What it cost, in the currency of KB_PRICES; ``None`` if a model has no price there."""
    costs = [usage.cost for usage in priced(total(used), workspace.settings.prices)]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 4) if len(known) == len(costs) else None


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown."""
    doubles = " Services are stand-ins: **plumbing only**, nothing here says how good a service is." * report["doubles"]
    lines = [
        "# Analyzers side by side",
        "",
        f"{report['material']} articles and documents, {report['at'][:10]}.{doubles}",
        "",
        "| analyzer | converted | words kept | images in place | links in place | refused by checks | s each | cost |"
        " s an image | cost of images |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in report["results"].items():
        if "left_out" in row:
            lines.append(f"| {name} | left out: {row['left_out']} |" + " |" * 8)
            continue
        described, failed = row["descriptions"], sum(row["failed"].values())
        cells = [
            f"{row['converted']}" + (f", {failed} failed" if failed else ""),
            f"{row['words']:.3f}",
            f"{row.get('images_right', 0):,} of {row.get('images', 0):,}",
            f"{row.get('links_right', 0):,} of {row.get('links', 0):,}",
            row.get("refused", 0),
            row["seconds_each"],
            _price(row["cost"]),
            described["seconds_each"],
            _price(described["cost"]),
        ]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _price(cost: float | None) -> str:
    return "no price set" if cost is None else f"{cost:g}"


def _sample(folder: Path, limit: int) -> list[Path]:
    """Some articles and loose documents of a staging folder, always the same ones."""
    articles = [page.parent for page in folder.glob("*/index.html")]
    documents = [file for file in folder.iterdir() if file.is_file() and is_document(file.name)]
    everything = sorted([*articles, *documents])
    return sorted(random.Random(folder.name).sample(everything, min(limit, len(everything))))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", type=Path, nargs="+", help="staging folders")
    parser.add_argument("--limit", type=int, default=20, help="articles and documents of each folder")
    parser.add_argument("--images", type=int, default=10, help="images that are described")
    parser.add_argument("--only", nargs="+", choices=list(ANALYZERS), help="these analyzers")
    parser.add_argument("--doubles", action="store_true", help="stand-ins instead of services: plumbing only")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "analyzers.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
