"""The ZIP of an Office document is looked at before anything in it is unpacked."""

import time
import tracemalloc
from collections.abc import Callable

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import source_of
from kb_pipeline_tests.sources.archives import with_entry, with_link, with_many_names, with_shared_bytes
from kb_pipeline_tests.sources.decks import TITLE_ONLY, presentation, slide
from kb_pipeline_tests.sources.word import document, paragraph

GOOD = {
    "docx": document(paragraph("Text.")),
    "pptx": presentation(lambda deck: slide(deck, TITLE_ONLY, "Plan")),
}
HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "names that share their bytes": (lambda data: with_shared_bytes(data, 400), "in it share their bytes"),
    "two names for the same bytes": (lambda data: with_shared_bytes(data, 2), "in it share their bytes"),
    "a million files": (lambda data: with_many_names(data, 1_000_000), r"it holds 1,000,0\d\d files, at most 10,000"),
    "a link": (lambda data: with_link(data, "media/a.png", "/etc/passwd"), "'media/a.png' in it is a link"),
    "an absolute path": (lambda data: with_entry(data, "/etc/passwd"), "it names a file outside of itself"),
    "a path that leads up": (lambda data: with_entry(data, "../../x"), "it names a file outside of itself"),
    "a path of Windows": (lambda data: with_entry(data, "..\\x"), "it names a file outside of itself"),
    "blanks of sixty megabytes": (lambda data: with_entry(data, "media/a.xml", b" " * 60_000_000), "unpacks to"),
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(("made", "problem"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("kind", GOOD)
def test_a_hostile_archive_is_refused_at_once(kind: str, made: Callable[[bytes], bytes], problem: str) -> None:
    source = source_of(kind)
    source.read("guide", f"guide.{kind}", GOOD[kind])  # loads its libraries
    data = made(GOOD[kind])
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(UnreadableArticleError, match=rf"guide: guide\.{kind} is refused: .*({problem})"):
        source.read("guide", f"guide.{kind}", data)
    seconds, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000
    assert seconds < 1


@pytest.mark.parametrize("kind", GOOD)
def test_further_files_inside_are_no_harm(kind: str) -> None:
    data = with_many_names(with_entry(GOOD[kind], "customXml/item1.xml"), 0)
    assert source_of(kind).read("guide", f"guide.{kind}", data).html
