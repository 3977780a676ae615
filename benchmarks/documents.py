"""Documents to markdown: the same articles in each format, and long manuals, by our reader and others.

    sh benchmarks/converters/setup_documents.sh
    python -m benchmarks.documents STAGING --twins FOLDER --manuals FILE.pdf[=HTML] ... --scorer FILE [--limit N]

Each reader runs alone in a process of its own and reads one file after the other; only reading is timed, after a first
file. Twins (`twins.py`) are made where they are missing; those of the folder are taken first, up to the limit. A
manual may be there as HTML, too: a page, or a folder of chapters. With `--work FOLDER`, what was read before is not
read again.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lxml import html as lxml_html

from benchmarks.converters.documents import OURS, READERS
from benchmarks.converters.manuals import Manual, kept_of, read_manual, without_number
from benchmarks.converters.scoring import Scorer, pooled
from benchmarks.measure import machine
from benchmarks.twins import TWINS, make_twins

FAIR = ("words", "headings", "links", "tables", "code", "lists")
"""What is scored of a twin. Pictures have other names in it, and printed pages hold the navigation as content."""
_TOO_FEW = 10
"""A measure that counts fewer of something in all articles says nothing."""
_FAIR_TO_MANUALS = ("words", "headings", "code", "lists")
_HEADING = re.compile(r"^(#+ +)(.*)$", re.MULTILINE)
_LOCAL_TARGET = re.compile(r"\]\(file:///(?:[^\s()#]*/)?")
_HTML, _MARKDOWN = "HTML", "Markdown"
_FORMATS = {_HTML: (OURS,), _MARKDOWN: (OURS,), "DOCX": (OURS, "markitdown"), "PPTX": (OURS, "markitdown")}
_FORMATS |= {"PDF, tagged": (OURS, "markitdown", "PyPDFLoader"), "PDF, untagged": (OURS, "PyPDFLoader")}
"""Format -> who reads it. markitdown does not look at tags; PDFPlumberLoader writes plain text as PyPDFLoader does."""


def main() -> None:
    """Read, score, print and store the figures."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="kb-documents-") as folder:
        work = arguments.work or Path(folder)
        scorer = Scorer(arguments.python, arguments.scorer)
        manuals = dict(given.partition("=")[::2] for given in arguments.manuals)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        twins = _of_twins(arguments, scorer, work) | {"twins_at": now} if arguments.limit else _former(arguments.out)
        report = {
            "machine": machine(),
            "at": now,
            "versions": _versions(arguments.python),
            **twins,
            **_of_manuals({Path(pdf): Path(html) if html else None for pdf, html in manuals.items()}, arguments, work),
        }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))
    print(table(report))


def _former(report: Path) -> dict[str, Any]:
    """What an earlier report says of twins."""
    former = json.loads(report.read_text())
    return {name: former[name] for name in ("articles", "counted", "twins")} | {
        "twins_at": former.get("twins_at", former["at"])
    }


def _of_twins(arguments: argparse.Namespace, scorer: Scorer, work: Path) -> dict[str, Any]:
    staging, twins = arguments.staging, arguments.twins
    pages = sorted(page.parent.name for page in staging.glob("*/index.html"))
    made = [name for name in pages if (twins / name).is_dir()]
    others = random.Random(1).sample(pages, len(pages))
    chosen = sorted([*made, *(name for name in others if name not in made)][: arguments.limit])
    make_twins([staging / name for name in chosen], twins)
    pages_of_twins = work / "pages"
    pages_of_twins.mkdir(parents=True, exist_ok=True)
    for name in chosen:  # only these: the scorer looks at all pages of the folder
        if not (pages_of_twins / name).is_symlink():
            (pages_of_twins / name).symlink_to((staging / name).absolute())
    rows = []
    for reader in arguments.only:
        for file_format in (name for name, readers in _FORMATS.items() if reader in readers):
            files = {name: _twin(file_format, staging, twins, name, work) for name in chosen}
            took, out = _read(reader, file_format, files, work, arguments.python)
            rewritten = _rewritten(out, chosen, _local_targets_as_names)
            scores = scorer.score(pages_of_twins, chosen, rewritten, out.with_suffix(".scores"))
            counted = {name: sum(row[name][1] for row in scores) for name in FAIR}
            telling = [name for name in FAIR if counted[name] >= _TOO_FEW]
            rows.append({"format": file_format, "reader": reader, "fidelity": pooled(scores, telling), **took})
            print(json.dumps(rows[-1]), flush=True)
    rows.sort(key=lambda row: list(_FORMATS).index(row["format"]))
    return {"articles": len(chosen), "counted": counted, "twins": rows}


def _twin(file_format: str, staging: Path, twins: Path, name: str, work: Path) -> Path:
    if file_format == _HTML:
        return staging / name
    if file_format == _MARKDOWN:  # what HTML became, which is read first
        return work / "out" / _slug(_HTML) / OURS / name / "article.md"
    return twins / name / TWINS[file_format]


def _of_manuals(manuals: Mapping[Path, Path | None], arguments: argparse.Namespace, work: Path) -> dict[str, Any]:
    wanted = {file.stem: read_manual(file) for file in manuals}
    by_size = {file.stem: file for file in sorted(manuals, key=lambda file: wanted[file.stem].pages)}
    pages = sum(manual.pages for manual in wanted.values())
    beside = {file.stem: html for file, html in manuals.items() if html}
    staging = work / "manuals-html"
    for name, html in beside.items():
        (staging / name).mkdir(parents=True, exist_ok=True)
        (staging / name / "index.html").write_bytes(_one_page(html))
    scorer = Scorer(arguments.python, arguments.scorer)
    rows = []
    for reader in arguments.only if manuals else ():
        took, out = _read(reader, "manuals", by_size, work, arguments.python)
        rows.append({"reader": reader, "pages_a_cpu_s": round(pages / took["cpu_s"], 1), **took})
        rows[-1] |= _kept(wanted, out)
        if beside:
            rewritten = _rewritten(out, list(beside), _headings_without_numbers)
            scores = scorer.score(staging, list(beside), rewritten, out.with_suffix(".scores"))
            rows[-1]["as_html"] = pooled(scores, _FAIR_TO_MANUALS)
        print(json.dumps(rows[-1]), flush=True)
    counted = {name: manual.pages for name, manual in wanted.items()}
    return {"manuals": counted, "manuals_with_html": sorted(beside), "manuals_read": rows}


def _kept(wanted: Mapping[str, Manual], out: Path) -> dict[str, Any]:
    found = {
        name: kept_of(manual, (out / name / "article.md").read_text(encoding="utf-8"))
        for name, manual in wanted.items()
    }
    each = {
        name: {"words": kept.words, "titles": kept.titles, "other": kept.other_headings} for name, kept in found.items()
    }
    words, titles = (
        [sum(counts) for counts in zip(*pairs, strict=True)]
        for pairs in ([kept.words for kept in found.values()], [kept.titles for kept in found.values()])
    )
    other = sum(kept.other_headings for kept in found.values())
    shares = {"words": words[0] / words[1], "titles": titles[0] / titles[1] if titles[1] else None}
    return {**shares, "other_headings": other, "by_manual": each}


def _one_page(html: Path) -> bytes:
    """The page, or the chapters of a folder in the order in which its first page names them.

    Contents are marked as such, and headings have no numbers: what paper has of them is not what a page has.
    """
    names = ["index.html"] if html.is_dir() else [html.name]
    folder = html if html.is_dir() else html.parent
    if html.is_dir():
        for contents in lxml_html.parse(html / "index.html").getroot().find_class("toctree-wrapper"):
            links = (str(link) for _, attribute, link, _ in contents.iterlinks() if attribute == "href")
            names += [link.partition("#")[0] for link in links]
    chapters = [lxml_html.parse(folder / name).getroot() for name in dict.fromkeys(names) if name]
    for chapter in chapters:
        for wrapper in chapter.find_class("toctree-wrapper"):  # the chapters themselves, in a manual of one page
            wrapper.set("class", "" if wrapper.xpath(".//h1|.//h2") else "toc")
        for contents in (*chapter.find_class("contents"), *chapter.find_class("contents-heading")):
            contents.set("class", "toc")
        for number in chapter.find_class("section-number"):
            number.drop_tree()
        for heading in chapter.iter("h1", "h2", "h3", "h4", "h5", "h6"):
            heading.text = without_number((heading.text or "").lstrip())
    parts = (lxml_html.tostring(part, encoding="unicode") for chapter in chapters for part in chapter.body)
    return f'<html><head><meta charset="utf-8"></head><body>{"".join(parts)}</body></html>'.encode()


def _rewritten(out: Path, names: Sequence[str], rewrite: Callable[[str], str]) -> Path:
    """A copy of what was read, for the scorer."""
    target = out.with_suffix(".rewritten")
    for name in names:
        (target / name).mkdir(parents=True, exist_ok=True)
        text = (out / name / "article.md").read_text(encoding="utf-8")
        (target / name / "article.md").write_text(rewrite(text), encoding="utf-8")
    return target


def _headings_without_numbers(markdown: str) -> str:
    return _HEADING.sub(lambda match: match[1] + without_number(match[2]), markdown)


def _local_targets_as_names(markdown: str) -> str:
    """Chromium prints ``file:///...`` for a link to another page; the scorer's parser takes that for no link."""
    return _LOCAL_TARGET.sub("](", markdown)


def _read(reader: str, what: str, files: Mapping[str, Path], work: Path, python: Path) -> tuple[dict[str, Any], Path]:
    """Read files to ``<out>/<name>/article.md``, unless that is done; return the cost, and the folder."""
    out, source = work / "out" / _slug(what) / reader, work / "in" / _slug(what)
    done = out.with_suffix(".json")
    if done.is_file():
        return json.loads(done.read_text()), out
    listed = out.with_suffix(".files")
    out.mkdir(parents=True, exist_ok=True)
    folders = []
    for name, file in files.items():
        if file.is_dir():  # a page with its images
            folders.append(file)
            continue
        folders.append(source / name)
        folders[-1].mkdir(parents=True, exist_ok=True)
        link = folders[-1] / f"{name}{file.suffix}"
        if not link.is_symlink():
            link.symlink_to(file.absolute())
    listed.write_text("".join(f"{folder.absolute()}\n" for folder in folders))
    where = ["--out", str(out)]
    if what == _HTML:
        command = [sys.executable, "-m", "benchmarks.converters.ours", "--pages", str(listed)]
    else:
        program = sys.executable if reader == OURS else str(python)
        command = [program, "-m", "benchmarks.converters.documents", reader, "--files", str(listed)]
    told = subprocess.run([*command, *where], env=os.environ, stdout=subprocess.PIPE, text=True, check=True).stdout
    took: dict[str, Any] = json.loads(told.splitlines()[-1])
    took["files"] = took.pop("pages")
    done.write_text(json.dumps(took))
    return took, out


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown."""
    machine_, versions = report["machine"], ", ".join(f"{name} {of}" for name, of in report["versions"].items())
    ran_on = f"{machine_['cpus']} cores ({machine_['processor']}), Python {machine_['python']}"
    measures = [name for name in FAIR if report["counted"][name] >= _TOO_FEW]
    lines = [
        "# Documents",
        "",
        f"{ran_on}, shared with other work, {report['at'][:10]}. {versions}.",
        "",
        "## The same articles in each format",
        "",
        f"{report['twins_at'][:10]}. {report['articles']} articles: their pages, and twins made from them. In them: "
        + ", ".join(f"{name} {count:,}" for name, count in report["counted"].items())
        + f"; what there are fewer than {_TOO_FEW} of is not scored.",
        "",
        *_rows(["format", "reader", *measures, "mean", "CPU ms a file", "given up"]),
    ]
    for row in report["twins"]:
        shares = [row["fidelity"].get(name) for name in (*measures, "overall")]
        lines.append(
            _row(row["format"], row["reader"], *shares, round(1000 * row["cpu_s"] / row["files"]), row["failures"])
        )
    lines += ["", *_TWINS_NOTES, ""]
    if report["manuals"]:
        named = ", ".join(f"{name} {pages}" for name, pages in report["manuals"].items())
        beside = [f"as HTML: {name}" for name in _FAIR_TO_MANUALS]
        heads = ["reader", "pages a CPU s", "MB", "words", "headings", "other headings", *beside, "given up"]
        lines += ["## Manuals", "", f"{sum(report['manuals'].values())} pages: {named}.", "", *_rows(heads)]
        for row in report["manuals_read"]:
            shares = [row.get("as_html", {}).get(name) for name in _FAIR_TO_MANUALS]
            cells = [row["pages_a_cpu_s"], row["peak_mb"], row["words"], row["titles"], row["other_headings"]]
            lines.append(_row(row["reader"], *map(_number, cells[:2]), *cells[2:4], cells[4], *shares, row["failures"]))
        lines += ["", *_MANUALS_NOTES, f"The same as HTML was there for {', '.join(report['manuals_with_html'])}.", ""]
    return "\n".join(lines)


_TWINS_NOTES = (
    "Share kept of what the page has, as the scorer says it, and their mean. Tagged and untagged PDF are printed by",
    "Chromium, DOCX and PPTX written by pandoc, Markdown is what ours makes of the page. What the twin itself lost is",
    "lost for every reader. Left out: pictures, which have other names in twins, and `clean`, because a printed page",
    "holds the site's navigation as content. Not measured: docling, which reads PDF with models that it downloads, and",
    "pages that need OCR. markitdown and the loaders do not look at tags.",
)
_MANUALS_NOTES = (
    "Words: share of PDFium's words of all pages that come back, but for running heads and pages of contents",
    "(`converters/manuals.py`); words that a reader writes without the spaces between them are lost. Headings:",
    "entries of the PDF's outline that are headings; others are headings that are no entry. As HTML: scored against",
    "the same manual as HTML, contents and the numbers before headings left out of both. MB is the peak of the",
    "process over all manuals, imports included. CPU seconds beside other work on the machine: the ratios between",
    "readers say more than the figures. Ours draws figures as well, which the others leave out. Here it reads in one",
    "process; in an ingest, PDFium has a process of its own, and checks follow: neither is in its time.",
)


def _rows(heads: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]


def _row(*cells: object) -> str:
    return (
        "| "
        + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else "–" if cell is None else str(cell) for cell in cells)
        + " |"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _versions(python: Path) -> dict[str, str]:
    command = [str(python), "-m", "benchmarks.converters.documents", "--versions"]
    told: dict[str, str] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return told


def _slug(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", type=Path)
    parser.add_argument("--twins", type=Path, required=True, help="folder of twins; what is missing is made in it")
    parser.add_argument(
        "--manuals", nargs="*", default=[], help="PDF files, each with =HTML (a page or a folder) or not"
    )
    parser.add_argument("--scorer", type=Path, required=True, help="fidelity.py")
    parser.add_argument(
        "--python", type=Path, default=Path(".venv-documents/bin/python"), help="from setup_documents.sh"
    )
    parser.add_argument("--only", nargs="+", choices=READERS, default=list(READERS), help="only these readers")
    parser.add_argument(
        "--limit", type=int, default=70, help="articles; 0: manuals alone, what the report says of articles stays"
    )
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/documents.json"))
    parser.add_argument("--work", type=Path, default=None, help="where temporary data stays")
    return parser.parse_args()


if __name__ == "__main__":
    main()
