"""Tables of PDF: how many relations between neighbouring cells come back from the files of a competition.

    python -m benchmarks.icdar_tables FOLDER [--reader NAME ...] [--worst N] [--out FILE.json]

``FOLDER`` holds the 67 files of the ICDAR 2013 table competition with their truth (``src/test/resources/technology/
tabula/icdar2013-dataset`` of tabula-java, or the competition's own page). The protocol is that of M. Göbel, T. Hassan,
E. Oro, G. Orsi, *A Methodology for Evaluating Algorithms for Table Understanding in PDF Documents* (DocEng 2012): from
each cell with text to the next one with text to its right and below it goes one relation, which is right if both texts
and the direction are; a text is compared without spaces, its special characters as one sign. Recall and precision are
counted for each file and averaged over the files, as the competition did.

Where a table stands is not told to a reader (the competition's *complete* task), so that a table that it finds in
prose costs precision. "Region given" tells it: it sees only what is inside of each table's box (the *structure* task).
"""

import argparse
import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pypdfium2
from lxml import html as lxml_html

from benchmarks.measure import machine
from kb_pipeline.sources.pdf.file import opened
from kb_pipeline.sources.pdf.pages import read_page
from kb_pipeline.sources.pdf.reading import read
from kb_pipeline.steps.pdf.layout import layout_html
from kb_pipeline.steps.pdf.model import Box, Page
from kb_pipeline.steps.pdf.study import study

Relations = Counter[tuple[str, str, str]]
_SPECIAL = re.compile(r"[\W_]")
_NEAR = 3.0
"""Points by which words may reach beyond the box of their table, which was drawn around letters."""


class Region(NamedTuple):
    """Where a table stands: its page, from 1, and its box in the coordinates of the page."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


@dataclass
class Table:
    """The texts of a table, each at all places (row, column) that its cell takes."""

    texts: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    _cells: int = 0

    def add(self, text: str, rows: range, columns: range) -> None:
        """Add a cell; one without text is none."""
        self._cells += 1
        if text := normalised(text):
            self.texts.update({(row, column): (self._cells, text) for row in rows for column in columns})

    def relations(self) -> Relations:
        """From each cell to its next one to the right and below, on each row and column that it takes, but once."""
        found: set[tuple[int, int, str]] = set()
        texts: dict[int, str] = {}
        for direction in ("right", "below"):
            lines: dict[int, list[tuple[int, int, str]]] = {}
            for (row, column), (cell, text) in self.texts.items():
                line, place = (row, column) if direction == "right" else (column, row)
                lines.setdefault(line, []).append((place, cell, text))
            for entries in lines.values():
                for (_, cell, text), (_, other, other_text) in pairwise(sorted(entries)):
                    if cell != other:
                        found.add((cell, other, direction))
                        texts |= {cell: text, other: other_text}
        return Counter((texts[cell], texts[other], direction) for cell, other, direction in found)


def normalised(text: str) -> str:
    """A text without spaces, each special character as one sign."""
    return _SPECIAL.sub("_", "".join(unicodedata.normalize("NFKC", text).split())).casefold()


def truth_of(file: Path) -> list[Table]:
    """The tables that are in a file of the competition, by the file ``*-str.xml`` beside it."""
    root = ElementTree.parse(file.with_name(f"{file.stem}-str.xml")).getroot()
    tables = []
    for element in root.iter("table"):
        table = Table()
        for region in element.iter("region"):
            down, across = (int(region.get(f"{name}-increment") or 0) for name in ("row", "col"))
            boxes = []
            for cell in region.iter("cell"):
                row, column = (int(cell.get(f"start-{name}") or 0) for name in ("row", "col"))
                last_row, last_column = int(cell.get("end-row") or row), int(cell.get("end-col") or column)
                rows, columns = range(row + down, last_row + down + 1), range(column + across, last_column + across + 1)
                table.add(cell.findtext("content") or "", rows, columns)
                if (box := cell.find("bounding-box")) is not None:
                    boxes.append(_sides(box))
            if boxes:
                left, bottom, right, top = zip(*boxes, strict=True)
                page = int(region.get("page") or 1)
                table.regions.append(Region(page, min(left), min(bottom), max(right), max(top)))
        tables.append(table)
    return tables


def _sides(box: ElementTree.Element) -> tuple[float, ...]:
    """Left, bottom, right and top of a box; one number of the files has a letter in it (``26ß``)."""
    return tuple(float(re.sub(r"[^\d.]", "", box.get(side) or "0")) for side in ("x1", "y1", "x2", "y2"))


def tables_of_html(page: str) -> list[Table]:
    """The tables of a page of HTML."""
    tables = []
    for element in lxml_html.document_fromstring(page).iter("table"):
        table = Table()
        taken: set[tuple[int, int]] = set()
        for row, cells in enumerate(element.iter("tr")):
            column = 0
            for cell in cells.iterchildren("td", "th"):
                while (row, column) in taken:
                    column += 1
                rows = range(row, row + int(cell.get("rowspan") or 1))
                columns = range(column, column + int(cell.get("colspan") or 1))
                taken |= {(each, other) for each in rows for other in columns}
                table.add("".join(map(str, cell.itertext())), rows, columns)
        tables.append(table)
    return tables


def tables_of_rows(found: Sequence[Sequence[Sequence[str | None]]]) -> list[Table]:
    """Tables that are lists of rows."""
    tables = []
    for rows in found:
        table = Table()
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                table.add(text or "", range(number, number + 1), range(column, column + 1))
        tables.append(table)
    return tables


# Readers


def ours(file: Path, truth: Sequence[Table]) -> list[Table]:
    """What an article of the file is made of."""
    return tables_of_html(read(file, file.name, "", 1_000, {}).html)


def ours_in_regions(file: Path, truth: Sequence[Table]) -> list[Table]:
    """What the layout of each table alone is taken for, without the rest of its page."""
    tables: list[Table] = []
    with opened(file, file.name) as document:
        pages = {number: read_page(document, page, number) for number, page in enumerate(document, 1)}
        for region in chain.from_iterable(table.regions for table in truth):
            page = _inside(pages[region.page], region, document[region.page - 1].get_height())
            known = study([page])
            tables += tables_of_html(f"<body>{layout_html(known, [page.number], lambda number, label: '')}</body>")
    return tables


def _inside(page: Page, region: Region, height: float) -> Page:
    box = Box(region.left, height - region.top, region.right, height - region.bottom)
    words = tuple(word for word in page.words if box.holds(*word.box.middle, _NEAR))
    drawings = tuple(drawing for drawing in page.drawings if box.holds(*drawing.box.middle, 3 * _NEAR))
    return Page(page.number, page.width, page.height, words, (), drawings, (), page.label, page.text)


def pdfplumber(file: Path, truth: Sequence[Table]) -> list[Table]:
    """The tables that pdfplumber finds as it is set."""
    library = import_module("pdfplumber")

    with library.open(file) as document:
        return tables_of_rows([table for page in document.pages for table in page.extract_tables()])


def pymupdf(file: Path, truth: Sequence[Table]) -> list[Table]:
    """The tables that PyMuPDF finds as it is set."""
    library = import_module("pymupdf")

    return tables_of_rows([table.extract() for page in library.open(file) for table in page.find_tables().tables])


def camelot(flavor: str) -> Callable[[Path, Sequence[Table]], list[Table]]:
    """The tables that camelot finds by one of its two ways."""

    def found(file: Path, truth: Sequence[Table]) -> list[Table]:
        library = import_module("camelot")

        return tables_of_rows([table.data for table in library.read_pdf(str(file), pages="all", flavor=flavor)])

    return found


READERS: dict[str, Callable[[Path, Sequence[Table]], list[Table]]] = {
    "ours": ours,
    "ours, region given": ours_in_regions,
    "pdfplumber": pdfplumber,
    "pymupdf": pymupdf,
    "camelot, lattice": camelot("lattice"),
    "camelot, stream": camelot("stream"),
}


# Figures


@dataclass(frozen=True)
class Score:
    """How many relations of a file are right, how many were found, and how many there are."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 0.0


def score(found: Sequence[Table], truth: Sequence[Table]) -> Score:
    """Compare the relations of all tables of a file."""
    ours, theirs = (sum((table.relations() for table in tables), Counter()) for tables in (found, truth))
    return Score((ours & theirs).total(), ours.total(), theirs.total())


def f1(precision: float, recall: float) -> float:
    """Their harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def figures(scores: Sequence[Score]) -> dict[str, float]:
    """Averages over the files, as the competition has them, and those over all relations."""
    precision, recall = fmean(each.precision for each in scores), fmean(each.recall for each in scores)
    right, found, wanted = (sum(getattr(each, name) for each in scores) for name in ("right", "found", "wanted"))
    together = f1(right / found if found else 0.0, right / wanted)
    return {"precision": precision, "recall": recall, "f1": f1(precision, recall), "f1_of_all": together}


def main() -> None:
    """Read, score, print and store the figures."""
    arguments = _arguments()
    files = sorted(arguments.folder.rglob("*.pdf"), key=lambda file: file.name)
    report: dict[str, Any] = {
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "pdfium": str(pypdfium2.version.PDFIUM_INFO.build),
        "files": len(files),
        "readers": {},
    }
    for name in arguments.reader:
        begun = time.process_time()
        scores = {file.stem: _score_of(name, file) for file in files}
        took = {"cpu_s": round(time.process_time() - begun, 1)}
        report["readers"][name] = {**figures(list(scores.values())), **took}
        print(name, json.dumps({key: round(value, 4) for key, value in report["readers"][name].items()}))
        for stem, each in sorted(scores.items(), key=lambda item: f1(item[1].precision, item[1].recall))[
            : arguments.worst
        ]:
            shares = f"P {each.precision:.3f}  R {each.recall:.3f}"
            print(f"  {stem:10} {shares}  right {each.right}, found {each.found}, there {each.wanted}")
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
        arguments.out.with_suffix(".md").write_text(table(report))


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown."""
    machine_ = report["machine"]
    ran_on = f"{machine_['cpus']} cores ({machine_['processor']}), Python {machine_['python']}"
    lines = [
        "# Tables of PDF",
        "",
        f"{ran_on}, {report['at'][:10]}, PDFium {report['pdfium']}. {report['files']} files of the ICDAR 2013 table",
        "competition, scored by `python -m benchmarks.icdar_tables`.",
        "",
        "| reader | recall | precision | F1 | F1 of all relations | CPU s |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in report["readers"].items():
        shares = " | ".join(f"{row[key]:.3f}" for key in ("recall", "precision", "f1", "f1_of_all"))
        lines.append(f"| {name} | {shares} | {row['cpu_s']} |")
    return "\n".join([*lines, "", *_NOTES, ""])


_NOTES = (
    "Recall and precision are averages over the files, and F1 is made of these, as in the competition; the last F1 is",
    "that of all relations together. Who is not told the region has to find the tables as well. Others are measured as",
    "they are set.",
    "",
    "Published: where the regions are given, the best participant of 2013 (Nurminen) has an F1 of .946, and the neural",
    "method of [Aoyagi et al. 2022](https://scitepress.org/PublishedPapers/2022/108177/pdf/index.html), where both",
    "figures stand, .972. Where they are not, the rules of Namysl et al. 2021 have a recall of .847, a precision of",
    ".871 and an F1 of .859 ([their README](https://github.com/mnamysl/tabrec-sncs/tree/main/evaluation/ICDAR2013)).",
    "",
    "What is missed: a report that is typewritten, so that its tables are taken for code (us-034); rows that neither",
    "lines nor numbers divide (us-032). What is wrong: labels of charts that stand in columns (eu-011).",
)


def _score_of(name: str, file: Path) -> Score:
    truth = truth_of(file)
    return score(READERS[name](file, truth), truth)


def differences(reader: str, file: Path) -> Iterator[str]:
    """What is missed and what is wrong, for looking at a file."""
    truth = truth_of(file)
    sides = [
        sum((table.relations() for table in tables), Counter()) for tables in (READERS[reader](file, truth), truth)
    ]
    for sign, rest in (("-", sides[1] - sides[0]), ("+", sides[0] - sides[1])):
        yield from (f"{sign} {direction:5} {one} | {other}" for (one, other, direction) in rest.elements())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", nargs="+", choices=READERS, default=["ours", "ours, region given"])
    parser.add_argument("--worst", type=int, default=0, help="print the worst files")
    parser.add_argument("--out", type=Path, default=None, help="write the figures there as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
