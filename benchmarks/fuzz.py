"""Ingests damaged and hostile images, folders and documents together with the samples; looks for hangs, bloat, losses.

    python -m benchmarks.fuzz [--images 2000] [--folders 300] [--documents 400] [--real FOLDER ...] [--seed 1]

Images (PNG, GIF, SVG, WebP) are made with Pillow and mutated, twenty per article. Folders are copies of the samples
with damaged HTML and metadata, or with links, pipes, directories and unreadable files in place of files.
Pages and images that were made to exhaust a reader are those of `kb_pipeline_tests.hostile`, one to an article.
Documents are loose files: those of the folders that `--real` names as they are, and mutated ones of these and of the
samples. Worker processes build everything with the limits of the settings and publish it to an index, as `kb ingest`
does; only OCR reads fewer pages of a document.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from benchmarks.document_mutations import mutated_document, real_documents
from benchmarks.generate import SAMPLES
from benchmarks.measure import machine
from benchmarks.mutations import FORMATS, mutate_folder, mutated, seed_image
from kb_pipeline.flow.build import ArticleResult, build_as_they_come
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.layers.converted_markdown import load_converted
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline_tests.hostile import drawings, pages, pictures
from kb_pipeline_tests.measuring import peak_of_children

_TO_AN_ARTICLE = 20
_LARGEST_DOCUMENT = 3_000_000
_OCR_PAGES = 3
"""Pages of a document that OCR may read, which takes seconds for each; documents with more are refused."""
_ODD_FOLDERS = ("-", ".hidden", "a b", "con", "é", "x" * 250, "工单", "\u202eelcitra", "a\nb", "\udcff", "_x", "..a")
_SLACK_MB = 500
"""Growth of a process between two checks of its memory."""
_SLACK_SECONDS = 30


@dataclass
class Outcome:
    """The result; sound if ``problems`` is empty. Times are in seconds, memory of one process in MB."""

    images: int
    folders: int
    seed: int
    documents: int = 0
    seconds: float = 0.0
    longest_silence: float = 0.0
    peak_worker_mb: int = 0
    articles: Counter[str] = field(default_factory=Counter)
    document_fates: Counter[str] = field(default_factory=Counter)
    image_fates: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def main() -> None:
    """Fuzz, print and store the outcome."""
    arguments = _arguments()
    work = Path(tempfile.mkdtemp(prefix="kb-fuzz-", dir=arguments.work))
    outcome = fuzz(
        work,
        arguments.images,
        arguments.folders,
        arguments.seed,
        documents=arguments.documents,
        real=arguments.real,
        exhausting=True,
    )
    report = as_json(outcome)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(as_text(outcome))
    print(as_text(outcome))
    if outcome.problems:
        sys.exit(f"left as it is, to be looked at: {work}")
    shutil.rmtree(work)


def fuzz(
    work: Path,
    images: int,
    folders: int,
    seed: int,
    *,
    documents: int = 0,
    real: Sequence[Path] = (),
    exhausting: bool = False,
    **given: object,
) -> Outcome:
    """Stage, build and publish everything in the folder ``work``; ``given`` are settings.

    ``exhausting``: also the pages and images that take their reader to the limits, which takes minutes.

    An image that cannot be shown only warns, so that each image of an article has its own fate.
    """
    given = {"advisory_checks": ("images_are_accounted_for",), "ocr_pages": _OCR_PAGES, **given}
    settings = Settings(staging=str(work / "staging"), home=str(work / "home"), embedder="hashing", **given)
    stage(Path(settings.staging), images, folders, Random(seed))
    stage_documents(Path(settings.staging), documents, real, Random(seed))
    if exhausting:
        stage_exhausting(Path(settings.staging))
    outcome = Outcome(images, folders, seed, documents)
    listing = open_workspace(settings).staging.list_articles()
    outcome.articles["refused by their name"] = len(listing.refused)
    started = time.monotonic()
    with peak_of_children() as peak:
        results = dict(_built(settings, listing.article_ids, outcome))
    outcome.peak_worker_mb = peak.mb
    outcome.seconds = round(time.monotonic() - started, 1)
    outcome.problems += _of_articles(settings, listing.article_ids, results, outcome)
    outcome.problems += _of_limits(settings, outcome)
    return outcome


def stage(staging: Path, images: int, folders: int, dice: Random) -> None:
    """Write the samples, articles of mutated images, and mutated folders."""
    shutil.copytree(SAMPLES, staging)
    samples = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    files = [_image(number, dice) for number in range(images)]
    for start in range(0, images, _TO_AN_ARTICLE):
        some = files[start : start + _TO_AN_ARTICLE]
        folder = staging / f"images-{start:05}"
        folder.mkdir()
        for name, data in some:
            (folder / name).write_bytes(data)
        shown = "".join(f'<p>Step {name}: <img src="{name}" alt="The dialog of step {name}"></p>' for name, _ in some)
        (folder / "index.html").write_text(f"<h1>Images from {start}</h1><p>What there is to see.</p>{shown}")
    for number in range(folders):
        folder = staging / f"folder-{number:05}"
        shutil.copytree(dice.choice(samples), folder, ignore=shutil.ignore_patterns("*.image", "*.png"))
        mutate_folder(folder, dice)
    for name in _ODD_FOLDERS:
        (staging / name).mkdir()
        (staging / name / "index.html").write_text("<h1>An odd name</h1><p>And an ordinary page.</p>")


def stage_documents(staging: Path, count: int, real: Sequence[Path], dice: Random) -> None:
    """Write the given real documents as they are, and ``count`` mutated ones of them and of the samples."""
    own, given = (real_documents(folders, _LARGEST_DOCUMENT) for folders in ([SAMPLES], real))
    for number, path in enumerate(given):
        shutil.copyfile(path, staging / f"real-{number:05}{path.suffix.lower()}")
    by_ending: dict[str, list[Path]] = {}
    for path in [*own, *given]:
        by_ending.setdefault(path.suffix.lower(), []).append(path)
    for number in range(count):
        path = dice.choice(by_ending[dice.choice(sorted(by_ending))])
        data = mutated_document(path, dice.choice([*own, *given]), dice)
        (staging / f"mutated-{number:05}{path.suffix.lower()}").write_bytes(data)


def stage_exhausting(staging: Path) -> None:
    """Write the pages and images of ``kb_pipeline_tests.hostile``."""
    shot = seed_image("PNG", Random(1))
    shown = "<h1>{}</h1><p>What there is to say.<img src=a.image alt='The save dialog of the editor'>"
    staged = [(f"drawn {name}", shown.format(name), {"a.image": data}) for name, data in drawings().items()]
    staged += [(f"picture {name}", shown.format(name), {"a.image": data}) for name, data in pictures().items()]
    staged += [(f"page {name}", f"<body><h1>{name}</h1>{body}", {"shot.image": shot}) for name, body in pages()]
    for name, body, files in staged:
        folder = staging / name
        folder.mkdir()
        (folder / "index.html").write_text(body)
        for file, data in files.items():
            (folder / file).write_bytes(data)


def _image(number: int, dice: Random) -> tuple[str, bytes]:
    form = FORMATS[number % len(FORMATS)]
    other = seed_image(dice.choice(FORMATS), dice)
    return f"{number:05}.{form.lower()}", mutated(seed_image(form, dice), other, dice)


def _built(settings: Settings, article_ids: tuple[str, ...], outcome: Outcome) -> Iterator[tuple[str, ArticleResult]]:
    run = Run("fuzz", datetime.now(UTC).isoformat(timespec="seconds"))
    heard = time.monotonic()
    for results in build_as_they_come(open_workspace(settings), article_ids, LAYER_NAMES, run):
        outcome.longest_silence = max(outcome.longest_silence, round(time.monotonic() - heard, 1))
        for result in publish(open_workspace(settings), results, LAYER_NAMES, run):
            yield result.article_id, result
        if results:
            heard = time.monotonic()


def _of_articles(
    settings: Settings, staged: tuple[str, ...], results: dict[str, ArticleResult], outcome: Outcome
) -> Iterator[str]:
    """Check that each article is published or failed with a recorded reason, and that all samples are published."""
    workspace = open_workspace(settings)
    published = set(workspace.index.entries())
    for article_id in staged:
        result = results.get(article_id)
        if result is None:
            yield f"{article_id!r} has no result"
        elif result.error is None:
            outcome.articles["published"] += 1
            _count_document(article_id, "published", outcome)
            if article_id not in published:
                yield f"{article_id!r} is called published and is not in the index"
            yield from _of_images(settings, article_id, outcome)
        else:
            outcome.articles["failed with a reason"] += 1
            _count_document(article_id, "refused with a reason", outcome)
            outcome.reasons[_kind(result.error, article_id, settings)] += 1
            if "this is a defect" in result.error or load_state(workspace.layout, article_id).failure is None:
                yield result.error
    for sample in SAMPLES.iterdir():
        if sample.is_dir() and sample.name not in published:
            yield f"the sample {sample.name} is not published"


def _count_document(article_id: str, fate: str, outcome: Outcome) -> None:
    kind, _, rest = article_id.partition("-")
    if kind in ("real", "mutated"):
        outcome.document_fates[f"{kind} {rest.rpartition('.')[2]} {fate}"] += 1


def _of_images(settings: Settings, article_id: str, outcome: Outcome) -> Iterator[str]:
    """Check that each image of an article of images is shown, explained by a warning, or decoration."""
    if not article_id.startswith("images-"):
        return
    layout = open_workspace(settings).layout
    manifest = load_manifest(layout.serving(article_id))
    shown = {image.source_file for image in manifest.images}
    decorative = load_converted(layout, article_id).decorative_images
    staged = [path.name for path in (Path(settings.staging) / article_id).iterdir() if path.name != "index.html"]
    for file in staged:
        warning = next((text for text in manifest.warnings if file in text), None)
        if file in shown:
            outcome.image_fates["shown"] += 1
        elif warning:
            outcome.image_fates["left out with a warning"] += 1
            outcome.reasons[_kind(warning, file, settings)] += 1
        elif decorative:
            decorative -= 1
            outcome.image_fates["left out as decoration"] += 1
        else:
            yield f"{article_id}/{file} is neither shown nor explained"


def _of_limits(settings: Settings, outcome: Outcome) -> Iterator[str]:
    if outcome.longest_silence > settings.article_seconds + _SLACK_SECONDS:
        yield f"nothing was done for {outcome.longest_silence} s, an article may take {settings.article_seconds:g} s"
    if outcome.peak_worker_mb > settings.article_memory_mb + _SLACK_MB:
        yield f"a process took {outcome.peak_worker_mb} MB, it may take {settings.article_memory_mb} MB"


def _kind(reason: str, name: str, settings: Settings) -> str:
    """The reason without names and numbers, so that similar ones are counted together."""
    words = (
        reason.replace(f"{settings.staging}/", "")
        .replace(settings.staging, "staging")
        .replace(f"{name}: ", "")
        .replace(name, "...")
        .partition("\n")[0]
    )
    return "".join("0" if sign.isdigit() else sign for sign in words)[:60].replace("00", "0").replace("00", "0")


def as_json(outcome: Outcome) -> dict[str, object]:
    """The outcome and the machine."""
    # asdict() takes a Counter for a mapping that is made from pairs
    return {"machine": machine(), **{each.name: getattr(outcome, each.name) for each in fields(outcome)}}


def as_text(outcome: Outcome) -> str:
    """The outcome as markdown."""
    articles = ", ".join(f"{count} {fate}" for fate, count in outcome.articles.items())
    images = ", ".join(f"{count} {fate}" for fate, count in outcome.image_fates.items())
    documents = ", ".join(f"{count} {fate}" for fate, count in sorted(outcome.document_fates.items()))
    lines = [
        f"{outcome.images} mutated images, {outcome.folders} mutated folders, {outcome.documents} mutated documents "
        f"(seed {outcome.seed}) beside the samples, {outcome.seconds:.0f} s.",
        "",
        "| | |",
        "|---|---|",
        f"| articles | {articles} |",
        f"| images of published articles | {images} |",
        *([f"| documents | {documents} |"] if documents else []),
        f"| longest time without a finished article | {outcome.longest_silence:.0f} s |",
        f"| most memory of a process | {outcome.peak_worker_mb:,} MB |",
        "",
        "Sound: everything is published or explained, within the limits."
        if not outcome.problems
        else "\n".join(f"- {problem}" for problem in outcome.problems),
        "",
        "| reason | times |",
        "|---|---|",
        *(f"| {reason.replace('|', ' ')} | {count} |" for reason, count in outcome.reasons.most_common(20)),
    ]
    return "\n".join(lines) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--folders", type=int, default=300)
    parser.add_argument("--documents", type=int, default=400, help="mutated ones")
    parser.add_argument("--real", type=Path, nargs="*", default=[], help="folders of real documents")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/fuzz.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
