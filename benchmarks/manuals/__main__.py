"""PDF manuals that nothing was made with: what each reader keeps of them, and which pages our answers cite.

    sh benchmarks/converters/setup_documents.sh
    python -m benchmarks.manuals FOLDER --work WORK [--half development | held-out] [--pages 40]

FOLDER holds the manuals, each with a telling name. Of each its first pages are taken (``cut.py``), with outline and
tags, so that all readers read the same file. By a hash of its name a manual is in the half that may be looked at, or
in the one that only judges. What is counted, and how, stands in ``truth.py``, where the questions come from in
``questions.py``. Each reader runs alone in a process of its own; its CPU time and peak memory are those of all manuals
after a first one, without any checks. Ours is then ingested as ``kb ingest`` does it: a manual that is not published is
lost, and a page that is published as unread counts.

With ``--work``, what was done before is not done again: remove the folder of a reader, or ``home``, after a change.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.answers import ask_all, scores_of
from benchmarks.answers import table as table_of_answers
from benchmarks.converters.documents import OURS
from benchmarks.manuals.questions import questions_of
from benchmarks.manuals.truth import Kept, Manual, kept_of, read_manual
from benchmarks.measure import machine
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.questions import read_questions
from kb_pipeline.settings import load_settings

HALVES = ("development", "held-out")
READERS = (OURS, "markitdown", "pymupdf4llm")
_FEW_ENTRIES = 5
"""An outline with fewer entries that stand on their pages is no truth about headings."""
_UNREAD = re.compile(r"^\*Page .* could not be read completely\.", re.MULTILINE)


def half_of(name: str) -> str:
    """The half that a manual is in, by its name alone."""
    return HALVES[sha256(name.encode()).digest()[0] % 2]


def main() -> None:
    """Read, ingest, ask, print, and store the figures."""
    arguments = _arguments()
    work = arguments.work
    chosen = [file for file in sorted(arguments.folder.glob("*.pdf")) if arguments.half in (None, half_of(file.name))]
    staging = work / "staging"
    staging.mkdir(parents=True, exist_ok=True)
    given = [f"{file}={file.name}" for file in chosen]
    subprocess.run(
        [arguments.python, "-m", "benchmarks.manuals.cut", str(arguments.pages), str(staging), *given], check=True
    )
    manuals = {file.name: read_manual(staging / file.name) for file in chosen}
    report: dict[str, Any] = {"machine": machine(), "half": arguments.half or "all", "manuals": len(manuals)}
    report["pages"] = sum(len(manual.pages) for manual in manuals.values())
    report["readers"] = {name: _read(name, manuals, staging, work, arguments.python) for name in arguments.only}
    report["ingested"] = _ingested(manuals, work) if OURS in arguments.only else {}
    print("\n".join(table(report)))
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if arguments.ask:
        print(_asked(manuals, work))


def _read(reader: str, manuals: Mapping[str, Manual], staging: Path, work: Path, python: Path) -> dict[str, Any]:
    out, done = work / "out" / reader, work / "out" / f"{reader}.json"
    if not done.is_file():
        listed = work / f"{reader}.files"
        folders = [work / "in" / name for name in manuals]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / folder.name).is_symlink():
                (folder / folder.name).symlink_to((staging / folder.name).absolute())
        listed.write_text("".join(f"{folder.absolute()}\n" for folder in folders), encoding="utf-8")
        program = sys.executable if reader == OURS else str(python)
        command = [program, "-m", "benchmarks.converters.documents", reader, "--files", str(listed), "--out", str(out)]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        done.write_text(told.splitlines()[-1], encoding="utf-8")
    kept = {
        name: kept_of(manual, (out / name / "article.md").read_text(encoding="utf-8"))
        for name, manual in manuals.items()
    }
    return {**json.loads(done.read_text(encoding="utf-8")), **_summary(manuals, kept)}


def _summary(manuals: Mapping[str, Manual], kept: Mapping[str, Kept]) -> dict[str, Any]:
    words = {name: one.words[0] / one.words[1] for name, one in kept.items() if one.words[1]}
    truth = [one for name, one in kept.items() if len(manuals[name].standing) >= _FEW_ENTRIES]
    found, wanted, false = (
        sum(numbers) for numbers in zip(*((*one.headings, one.false_headings) for one in truth), strict=True)
    )
    rows = [sum(numbers) for numbers in zip(*(one.rows for one in kept.values()), strict=True)]
    return {
        "words": {"median": median(words.values()), "worst": min(words.values())},
        "headings": {
            "f1": 2 * found / (found + false + wanted),
            "median f1": median(one.headings_f1 for one in truth),
            "recall": found / wanted,
            "false": false,
            "wanted": wanted,
            "manuals": len(truth),
        },
        "rows": {"lost": rows[1] - rows[0], "of": rows[1]},
        "each": {
            name: {
                "words": round(words.get(name, 1.0), 4),
                "f1": round(one.headings_f1, 3) if len(manuals[name].standing) >= _FEW_ENTRIES else None,
                "rows lost": one.rows[1] - one.rows[0],
            }
            for name, one in kept.items()
        },
    }


def _ingested(manuals: Mapping[str, Manual], work: Path) -> dict[str, Any]:
    """What ``kb ingest`` published, and what it said of the rest."""
    home, said = work / "home", work / "ingest.txt"
    if not home.is_dir():
        places = {"KB_HOME": str(home), "KB_STAGING": str(work / "staging")}
        command = [sys.executable, "-m", "kb_pipeline", "ingest", "--changed"]
        with said.open("w", encoding="utf-8") as log:
            subprocess.run(command, env=os.environ | places, stdout=log, stderr=subprocess.STDOUT, check=False)
    published = {file.parent.name: file for file in home.glob("serving/*/article.md")}
    unread = {name: len(_UNREAD.findall(file.read_text(encoding="utf-8"))) for name, file in published.items()}
    return {
        "lost": sorted(manuals.keys() - published.keys()),
        "unread pages": {name: count for name, count in unread.items() if count},
    }


def _asked(manuals: Mapping[str, Manual], work: Path) -> str:
    """Which pages answers cite."""
    file, settings = work / "questions.jsonl", load_settings(home=str(work / "home"), staging=str(work / "staging"))
    lines = (question.model_dump_json(exclude_defaults=True) for question in questions_of(manuals))
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    log = work / "answers.jsonl"
    log.write_text("", encoding="utf-8")
    answers = asyncio.run(ask_all(settings, list(wordings([read_questions(file)])), log))
    return table_of_answers(scores_of(answers))


def table(report: Mapping[str, Any]) -> Iterator[str]:
    """The figures as markdown."""
    yield f"{report['manuals']} manuals ({report['half']}), {report['pages']} pages."
    yield ""
    heads = ["reader", "given up", "words, median", "worst", "headings F1", "false", "rows lost", "CPU ms a page", "MB"]
    yield from (_row(heads), "|---" * len(heads) + "|")
    for name, read in report["readers"].items():
        words, headings, rows = read["words"], read["headings"], read["rows"]
        shares = [f"{share:.3f}" for share in (words["median"], words["worst"], headings["f1"])]
        cost = f"{1000 * read['cpu_s'] / report['pages']:.0f}"
        lost = f"{rows['lost']} of {rows['of']}"
        yield _row([name, read["failures"], *shares, headings["false"], lost, cost, read["peak_mb"]])
    yield ""
    yield f"Headings of {next(iter(report['readers'].values()))['headings']['manuals']} manuals with an outline."
    yield f"Ingested: {json.dumps(report['ingested'])}"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--pages", type=int, default=40, help="how many pages of a manual are taken")
    parser.add_argument("--only", nargs="*", choices=READERS, default=READERS)
    parser.add_argument("--ask", action="store_true", help="also ask questions of what was ingested")
    parser.add_argument("--python", type=Path, default=Path(".venv-documents/bin/python"))
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
