"""Spreadsheets: workbooks (.xlsx, .xlsm, .xls, .ods), read by calamine, and tables as text (.csv, .tsv).

Each sheet is a section, its tables have one header, and 500 rows of it are a page, so that a citation says sheet and
rows. A file is read in a process of its own: a sheet of ten cells can be as large as memory.
"""

from importlib.metadata import version
from typing import ClassVar

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.limited.process import LimitedProcess
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools
from kb_pipeline.sources.own_process import call_in, check_size
from kb_pipeline.sources.sheets.reading import read

_ADVICE = (
    "delete what stands far from the rest of a sheet (Ctrl+End shows it), split the file, or raise "
    "KB_DOCUMENT_MEMORY_MB or KB_DOCUMENT_SECONDS",
    "delete what stands far from the rest of a sheet (Ctrl+End shows it), and save it again",
)


class SpreadsheetSource(Source):
    """Reads the values of spreadsheets. Formulas, macros and links to other files are not followed."""

    version: ClassVar[str] = f"spreadsheet-1+python-calamine-{version('python-calamine')}"

    def __init__(self, tools: SourceTools | None = None, process: LimitedProcess | None = None) -> None:
        self._tools = tools or SourceTools()
        self._process = process or LimitedProcess(quiet=True)

    def equipped(self, tools: SourceTools) -> Source:
        return SpreadsheetSource(tools, self._process)

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        limits = self._tools.limits
        try:
            check_size(name, data, limits)
            document = call_in(self._process, limits, name, _ADVICE, read, name, data, limits.most_pages)
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc}") from exc
        if not document.pages:
            told = "".join(f"; {warning}" for warning in document.warnings)
            raise EmptyArticleError(f"{article_id}: {name} holds no cell with a value{told}")
        return document
