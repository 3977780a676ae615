"""Damages the files of a knowledge base in many ways, repairs it, and checks that nothing was lost or paid twice.

    python -m benchmarks.corruption [--out benchmarks/results/corruption.json]

Each kind of file below KB_HOME, of one of three articles or of the index, is cut at the end of a line, cut in the
middle, emptied, changed by one bit, deleted, replaced by the file of another article, or filled with noise. Then an
ingest runs or not; then `verify` checks and `reconcile` repairs. Conversions, descriptions and vectors are billed by
fakes. A case is sound if readers see exactly what they saw before, nothing was billed, nothing is left over, and all
damage that the ingest did not repair was reported.
"""

import argparse
import json
import logging
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.measure import machine
from benchmarks.paid import LEDGER, FakePaidAnalyzer
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.build import ArticleResult, build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.state import known_articles, load_state
from kb_pipeline.upkeep.reconcile import compare, forget_lost_versions, repair, still_wrong
from kb_pipeline.upkeep.remove import leftovers
from kb_pipeline.upkeep.verify import verify

ARTICLES = ("first", "other", "third")
"""The files of the first article are damaged; some are replaced by those of the second."""
_RUN = Run("run-1", "2026-01-01T00:00:00+00:00")
_LATER = Run("run-2", "2026-02-01T00:00:00+00:00")


class PaidAnalyzer(FakePaidAnalyzer):
    """An analyzer that also bills conversions."""

    convert_pool: ClassVar[str] = "fake-conversion"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        _bill(f"conversion of {article_id}")
        return super().convert(article_id, html, images)


class PaidEmbedder(HashingEmbedder):
    """An embedder that bills its vectors."""

    model_id = "fake-paid-vectors"
    pool: ClassVar[str] = "fake-vectors"

    def __init__(self, _settings: Settings) -> None:
        super().__init__()

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        _bill(f"{len(texts)} vectors")
        return super().embed_batch(texts)


def _bill(line: str) -> None:
    with Path(os.environ[LEDGER]).open("a") as ledger:
        ledger.write(f"{line}\n")


# --- what is damaged, and how --------------------------------------------------------------------

Damage = Callable[[Path, Path, random.Random], None]


def _cut_at_line_end(path: Path, _other: Path, _chance: random.Random) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    _write(path, b"".join(lines[: max(1, len(lines) // 2)]) if len(lines) > 1 else b"")


def _cut_in_the_middle(path: Path, _other: Path, _chance: random.Random) -> None:
    data = path.read_bytes()
    _write(path, data[: len(data) // 2])


def _empty(path: Path, _other: Path, _chance: random.Random) -> None:
    _write(path, b"")


def _flip_a_bit(path: Path, _other: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    _write(path, bytes(data))


def _delete(path: Path, _other: Path, _chance: random.Random) -> None:
    path.unlink()


def _replace_by_another(path: Path, other: Path, _chance: random.Random) -> None:
    _write(path, other.read_bytes())


def _fill_with_noise(path: Path, _other: Path, chance: random.Random) -> None:
    _write(path, chance.randbytes(path.stat().st_size or 100))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)  # in place, as a failing disk would: hard links share the damage


DAMAGES: dict[str, Damage] = {
    "cut at a line end": _cut_at_line_end,
    "cut in the middle": _cut_in_the_middle,
    "emptied": _empty,
    "one bit flipped": _flip_a_bit,
    "deleted": _delete,
    "replaced by another's": _replace_by_another,
    "filled with noise": _fill_with_noise,
}
FILES: dict[str, str] = {
    "state": "state/{article}.json",
    "copy of the state": "copies/state/{article}.json",
    "reports": "reports/{article}.json",
    "inventory": "staged/{article}.json",
    "conversion": "converted/{article}/conversion.json",
    "converted text": "converted/{article}/article.md",
    "paid conversion": "conversions/{article}.json",
    "copy of the paid conversion": "copies/conversions/{article}.json",
    "descriptions": "descriptions/by-article/{article}.json",
    "paid description": "descriptions/by-content/{cached}",
    "copy of the paid description": "copies/descriptions/by-content/{cached}",
    "text of the version": "versions/{article}/{version}/article.md",
    "manifest of the version": "versions/{article}/{version}/manifest.json",
    "chunks": "versions/{article}/{version}/chunks.jsonl",
    "vectors": "versions/{article}/{version}/vectors-*.parquet",
    "image of the versions": "versions/{article}/images/{image}.png",
    "text that is served": "serving/{article}/article.md",
    "manifest that is served": "serving/{article}/manifest.json",
    "image that is served": "serving/{article}/images/form.png",
    "text of an earlier version": "versions/{article}/{earlier}/article.md",
    "manifest of an earlier version": "versions/{article}/{earlier}/manifest.json",
    "index: rows": "index/kb-articles-{generation}.lance/data/*.lance",
    "index: versions": "index/kb-articles-{generation}.lance/_versions/*.manifest",
    "index: transactions": "index/kb-articles-{generation}.lance/_transactions/*.txn",
    "index: words": "index/kb-articles-{generation}.lance/_indices/*/*.lance",
    "index: hashes": "index/kb-articles-{generation}.lance/.hashes.json",
    "pointer: rows": "index/kb-articles-live.lance/data/*.lance",
    "pointer: versions": "index/kb-articles-live.lance/_versions/*.manifest",
}
"""Glob patterns of files below KB_HOME; of several matches, one is chosen at random."""
FOLDERS: dict[str, str] = {
    "index": "index",
    "index: table": "index/kb-articles-{generation}.lance",
    "index: rows": "index/kb-articles-{generation}.lance/data",
    "index: versions": "index/kb-articles-{generation}.lance/_versions",
    "index: words": "index/kb-articles-{generation}.lance/_indices",
    "pointer": "index/kb-articles-live.lance",
    "states": "state",
    "copies": "copies",
    "serving": "serving",
    "versions": "versions",
    "paid descriptions": "descriptions/by-content",
}
"""Folders that are deleted with their content."""
_HARMLESS = {"index: versions", "index: transactions", "index: hashes", "pointer: versions", "pointer: rows"}
"""Kinds whose obsolete files can be lost without harm."""
_TOLD_AS_LOST = {"text of an earlier version", "manifest of an earlier version", "versions"}
"""Kinds that cannot be restored: earlier versions, because their source has changed since."""


@dataclass(frozen=True)
class Case:
    """One kind of damage to one kind of file; with ``ingest``, an ingest runs before the checks."""

    file: str
    damage: str
    ingest: bool

    def __str__(self) -> str:
        return f"{self.file} {self.damage}{', then an ingest' if self.ingest else ''}"


def cases() -> list[Case]:
    """All cases: each damage to each kind of file, and each deleted folder, with and without an ingest."""
    pairs = [(file, damage) for file in FILES for damage in DAMAGES]
    pairs += [(folder, "with its folder deleted") for folder in FOLDERS]
    return [Case(file, damage, ingest) for file, damage in pairs for ingest in (False, True)]


# --- a knowledge base to be damaged --------------------------------------------------------------


def make_home(folder: Path, picture: Callable[[str], bytes]) -> Settings:
    """Publish three articles, each with an image and an earlier version; ``picture`` draws an image of a word."""
    settings = _settings(folder)
    for words, run in (("earlier", _RUN), ("newer", _LATER)):
        for name in ARTICLES:
            staged = Path(settings.staging) / name
            staged.mkdir(parents=True, exist_ok=True)
            (staged / "index.html").write_text(_page(name, words))
            (staged / "form.image").write_bytes(picture(name))
        results = ingest(settings, run)
        assert not [result.error for result in results if result.error]
    Workspace(settings).index.optimise()
    return settings


def _settings(folder: Path) -> Settings:
    return Settings(
        staging=str(folder / "staging"),
        home=str(folder / "home"),
        analyzer="benchmarks.corruption:PaidAnalyzer",
        embedder="benchmarks.corruption:PaidEmbedder",
        chunk_min_tokens=4,
    )


def _page(name: str, words: str) -> str:
    section = f"Some {words} words about {name} that say what it is. " * 3
    figure = '<p><img src="form.image" alt="The form"></p>'
    return f"<body><h1>{name}</h1><p>{section}</p>{figure}<h2>More</h2><p>More {section}</p></body>"


def ingest(settings: Settings, run: Run = _LATER) -> list[ArticleResult]:
    """Build and publish all staged articles in this process, as a Dagster run does in several."""
    built = [build_article(settings, name, LAYER_NAMES, run) for name in ARTICLES]
    return publish(open_workspace(settings), built, LAYER_NAMES, run)


# --- one case ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The result of a case. ``told`` holds all reports of the damage; without ``problems`` the case is sound."""

    case: Case
    told: tuple[str, ...]
    mended: bool
    problems: tuple[str, ...]


def run_case(template: Path, folder: Path, case: Case) -> Outcome:
    """Damage a copy of the knowledge base, repair it, and check everything."""
    shutil.copytree(template, folder, symlinks=True)
    _link_again(folder)
    settings = _settings(folder)
    before = _seen(settings)
    billed = Path(os.environ[LEDGER]).read_text()
    _damage(settings, case)
    with _logged() as told:
        if case.ingest:
            told += _ingested(settings)
    told += _looked(settings)
    problems: list[str] = []
    try:
        repairs = repair(Workspace(settings))
        if repairs.to_build:
            built = [build_article(settings, name, LAYER_NAMES, _LATER) for name in repairs.to_build]
            results = publish(open_workspace(settings), built, LAYER_NAMES, _LATER)
            problems += [f"cannot be built: {result.error}" for result in results if result.error]
        forgotten = forget_lost_versions(Workspace(settings))
        told += [*repairs.mended, *repairs.lost, *forgotten, *(f"published again: {name}" for name in repairs.restored)]
        told += [f"made again: {name}" for name in repairs.to_build]
        problems += still_wrong(Workspace(settings), repairs.to_build)
        lost = bool(repairs.lost or forgotten)
    except KnowledgeBaseError as exc:
        problems.append(f"reconcile fails: {exc}")
        lost = False
    problems += _of_the_end(settings, case, before, lost=lost)
    if Path(os.environ[LEDGER]).read_text() != billed:
        problems.append(f"paid again: {Path(os.environ[LEDGER]).read_text().removeprefix(billed).splitlines()}")
    # an ingest need not report what it repairs; files that LanceDB keeps for readers of older versions may be missing
    is_spare = case.damage == "deleted" and case.file.startswith("index")
    if not (told or case.ingest or is_spare or case.file in _HARMLESS):
        problems.append("nobody noticed")
    return Outcome(case, tuple(told), not lost, tuple(problems))


@contextmanager
def _logged() -> Iterator[list[str]]:
    """Collect the log messages of the block."""
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("kb_pipeline")
    logger.addHandler(handler)
    try:
        yield told
    finally:
        logger.removeHandler(handler)


def _link_again(folder: Path) -> None:
    """Restore the hard links between served images and those of versions, which copying a tree loses."""
    for made in folder.glob("home/versions/*/images/*.png"):
        for served in folder.glob(f"home/serving/{made.parts[-3]}/images/*.png"):
            if served.read_bytes() == made.read_bytes():
                served.unlink()
                served.hardlink_to(made)


def _damage(settings: Settings, case: Case) -> None:
    home, chance = Path(settings.home), random.Random(str(case))
    if case.damage not in DAMAGES:
        shutil.rmtree(home / FOLDERS[case.file].format(generation=Workspace(settings).generation.id))
        return
    paths = _paths(settings, FILES[case.file], ARTICLES[0])
    path = paths[chance.randrange(len(paths))]
    others = _paths(settings, FILES[case.file], ARTICLES[1])
    other = next((each for each in others if each != path), path)
    if path == other:  # it is the only file of its kind
        other = home / "serve.json"
        other.write_text("{}")
    DAMAGES[case.damage](path, other, chance)


def _paths(settings: Settings, pattern: str, article_id: str) -> list[Path]:
    home, workspace = Path(settings.home), Workspace(settings)
    state = load_state(workspace.layout, article_id)
    picture = sha256((Path(settings.staging) / article_id / "form.image").read_bytes())
    image = sha256((home / "serving" / article_id / "images" / "form.png").read_bytes())
    caches = (home / "descriptions" / "by-content").rglob("*.json")
    shown = [path for path in caches if picture in path.name or image[:12] in path.read_text()]
    cached = [str(path.relative_to(home / "descriptions" / "by-content")) for path in shown]
    name = pattern.format(
        article=article_id,
        version=state.published[-1].id,
        earlier=state.published[0].id,
        image=image,
        cached=cached[0],
        generation=workspace.generation.id,
    )
    return sorted(home.glob(name))


def _ingested(settings: Settings) -> Iterator[str]:
    """The errors of an ingest, or of the index if it cannot be used."""
    try:
        Workspace(settings).index.count()
        for result in ingest(settings):
            if result.error:
                yield f"ingest: {result.error}"
    except KnowledgeBaseError as exc:
        yield f"ingest: {exc}"


def _looked(settings: Settings) -> Iterator[str]:
    """The findings of `verify`, `status` and `check`."""
    for name in ARTICLES:
        try:
            yield from (f"verify: {problem}" for problem in verify(open_workspace(settings), name).problems)
        except KnowledgeBaseError as exc:
            yield f"verify: {exc}"
    state = compare(Workspace(settings))
    if not state.is_good:
        yield f"status: {state.problem or state.summary()}"
    try:
        Workspace(settings).index.inspect()
    except KnowledgeBaseError as exc:
        yield f"check: {exc}"


Seen = tuple[dict[str, str], list[tuple[str, ...]], dict[str, list[str]]]


def _seen(settings: Settings) -> Seen:
    """Everything readers see: served files, rows of the index with their vectors, published versions."""
    serving = Path(settings.home) / "serving"
    files = {str(path.relative_to(serving)): sha256(path.read_bytes()) for path in serving.rglob("*") if path.is_file()}
    workspace = Workspace(settings)
    entries = workspace.index.stored(ARTICLES)
    rows = sorted(
        (entry.chunk.model_dump_json(), str([passage.vector.tolist() for passage in entry.passages]))
        for entry in entries
    )
    states = [load_state(workspace.layout, name) for name in ARTICLES]
    return files, rows, {state.article_id: [version.id for version in state.published] for state in states}


def _of_the_end(settings: Settings, case: Case, before: Seen, *, lost: bool) -> Iterator[str]:
    workspace = Workspace(settings)
    state = compare(workspace)
    if not state.is_good:
        yield f"the index is not good: {state.summary()}"
        return
    files, rows, published = _seen(settings)
    if files != before[0]:
        yield f"served files differ: {sorted(dict(files.items() ^ before[0].items()))}"
    if rows != before[1]:
        yield "rows of the index differ"
    if published != before[2] and not (lost and case.file in _TOLD_AS_LOST):
        yield f"published versions differ: {published} instead of {before[2]}"
    for name in ARTICLES:
        result = verify(open_workspace(settings), name)
        yield from (f"{name}: {problem}" for problem in result.problems)
        if result.skipped:
            yield f"{name} cannot be compared with its source: {result.skipped}"
        if load_state(workspace.layout, name).failure:
            yield f"{name} is told to fail"
        hits = workspace.reader().search(f"words about {name}", top=3, mode="keyword")
        if name not in {hit.chunk.article_id for hit in hits}:
            yield f"{name} is not found"
    if set(known_articles(workspace.layout)) != set(ARTICLES) or leftovers(workspace, ARTICLES):
        yield "something is left over"
    again = repair(workspace)
    if again.restored or again.removed or again.to_build or again.mended or again.lost:
        yield f"a second reconcile finds something to do: {again.mended or again.lost or again.to_build}"


# --- all of them ---------------------------------------------------------------------------------


def as_text(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The outcomes as markdown."""
    kinds = list(dict.fromkeys(outcome.case.file for outcome in outcomes))
    bad = [outcome for outcome in outcomes if outcome.problems]
    mended = sum(outcome.mended for outcome in outcomes)
    lines = [
        f"{len(outcomes)} damages, {seconds:.0f} s: {mended} mended, {len(outcomes) - mended} told as lost for good "
        f"(earlier versions, which no source says any more), {len(bad)} not sound.",
        "",
        "| | damages | mended | told as lost | noticed |",
        "|---|---|---|---|---|",
    ]
    for kind in kinds:
        of_kind = [outcome for outcome in outcomes if outcome.case.file == kind]
        whole = sum(outcome.mended for outcome in of_kind)
        told = sum(bool(outcome.told) for outcome in of_kind)
        lines.append(f"| {kind} | {len(of_kind)} | {whole} | {len(of_kind) - whole} | {told} |")
    lines += ["", "Nothing was paid again, lost, doubled or left over." if not bad else ""]
    lines += [f"- {outcome.case}: {problem}" for outcome in bad for problem in outcome.problems]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Run all cases, print and store the outcomes."""
    from kb_pipeline_tests.pictures import screenshot

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/corruption.json"))
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kb-corruption-") as name:
        folder = Path(name)
        os.environ[LEDGER] = str(folder / "ledger")
        make_home(folder / "template", screenshot)
        outcomes: list[Outcome] = []
        for number, case in enumerate(case for case in cases() if arguments.only in str(case)):
            outcome = run_case(folder / "template", folder / str(number), case)
            outcomes.append(outcome)
            shutil.rmtree(folder / str(number))
            for problem in outcome.problems:
                print(f"{case}: {problem}", flush=True)
    report: dict[str, Any] = {"machine": machine(), "outcomes": [asdict(outcome) for outcome in outcomes]}
    text = as_text(outcomes, time.monotonic() - started)
    if not arguments.only:
        arguments.out.write_text(json.dumps(report, indent=1).replace(name, "<folder>") + "\n")
        arguments.out.with_suffix(".md").write_text(text)
    print(text)
    raise SystemExit(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    main()
