"""What all formats read by pandoc do alike, shown on the sources of pages."""

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources import DocumentLimits, SourceDocument, SourceTools, source_of
from kb_pipeline.sources.pandoc.page_sources import OrgSource, RstSource
from kb_pipeline_tests.sources.reading import markdown_of

PAGE = """Refunds
=======

:Author: Ann Lee
:Date: 2026-11-27

Ask *first*
-----------

Press ``F5``, see `the list`_ and [#]_:

.. code-block:: python

   if late:
       refund()

.. image:: pictures/dialog.png
   :alt: The dialog

.. math:: x^2 + y

.. note:: Only once.

======  =====
Reason  Days
======  =====
R1      5
======  =====

.. [#] Above 500 EUR two people decide.

The list
--------

Version |release| of :ref:`the other page <other>`.
"""


def read_rst(text: str) -> SourceDocument:
    return RstSource().read("guide", "guide.rst", text.encode())


def test_a_page_keeps_its_structure() -> None:
    found = read_rst(PAGE)
    assert found.facts is not None
    assert (found.facts.author, found.facts.created) == ("Ann Lee", "2026-11-27")
    assert markdown_of(found, "pictures/dialog.png").split("\n\n") == [
        "# Refunds",
        "## Ask *first*",
        "Press `F5`, see [the list](#the-list) and<sup>[\\[1\\]](#fn1)</sup>:",
        "```python\nif late:\n    refund()\n```",
        "[[IMG:pictures/dialog.png]]",
        "`$$x^2 + y$$`",
        "> **Note:** Only once.",
        "| Reason | Days |\n| --- | --- |\n| R1 | 5 |",
        "---",
        "1. Above 500 EUR two people decide.",
        "## The list",
        "Version |release| of the other page.",
    ]


def test_notes_stand_below_the_section_that_has_them() -> None:
    text = "A\n=\n\nx [#]_\n\nB\n=\n\ny\n\n.. [#] note of A\n"
    assert markdown_of(read_rst(text)).index("note of A") < markdown_of(read_rst(text)).index("# B")


TAKING_IN = [
    (".. include:: /etc/passwd", "/etc/passwd"),
    (".. include:: ../../etc/passwd", "../../etc/passwd"),
    (".. raw:: html\n   :file: /etc/passwd", "/etc/passwd"),
    (".. csv-table:: T\n   :header: a, b\n   :file: /etc/passwd", "/etc/passwd"),
    (".. csv-table:: T\n   :url: http://127.0.0.1:9/x.csv", "http://127.0.0.1:9/x.csv"),
]


@pytest.mark.parametrize(("directive", "file"), TAKING_IN)
def test_other_files_are_not_taken_in_and_named(directive: str, file: str) -> None:
    found = read_rst(f"Before\n\n{directive}\n\nAfter :file:`x`\n")
    if "raw::" not in directive:
        assert found.warnings == (
            f"guide.rst takes in other files, which are not read ('{file}'); put their text into the document",
        )
    assert "root:" not in found.html
    assert all(word in found.html for word in ("Before", "After", ">x<"))
    if "include" in directive:
        with pytest.raises(EmptyArticleError, match=f"guide.rst holds no text and no image; .*{file}"):
            read_rst(directive)


@pytest.mark.parametrize(
    "line", ['#+INCLUDE: "/etc/passwd"', '#+INCLUDE: "../x.org" src c', "#+SETUPFILE: /etc/passwd"]
)
def test_org_takes_in_no_files(line: str) -> None:
    found = OrgSource().read("guide", "guide.org", f"* Head\n{line}\nwords\n".encode())
    assert "root:" not in found.html
    assert "words" in found.html


def test_pictures_elsewhere_are_no_pictures_of_the_document() -> None:
    text = "".join(
        f".. image:: {where}\n\n" for where in ("../x.png", "/etc/passwd", "file:///x", "http://127.0.0.1:9/a")
    )
    assert read_rst(f"words\n\n{text}").images == {}


def test_org_has_its_title_code_and_pictures() -> None:
    text = "#+TITLE: Refunds\n* One\n[[file:a.png]]\n#+BEGIN_SRC sh\nls\n#+END_SRC\n"
    found = markdown_of(OrgSource().read("guide", "guide.org", text.encode()), "a.png")
    assert found.split("\n\n") == ["# Refunds", "## One", "[[IMG:a.png]]", "```bash\nls\n```"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    assert "Größe" in RstSource().read("guide", "guide.rst", "Die Größe des Bildes\n".encode(encoding)).html


SLOW = [
    ("rst", b"\n".join(b" " * depth + b"x\n" for depth in range(2_000))),
    (
        "org",
        b"#+MACRO: a xxxxxxxxxx\n"
        + b"".join(
            b"#+MACRO: %c %s\n" % (98 + at, b" ".join(b"{{{%c}}}" % (97 + at) for _ in range(10))) for at in range(9)
        )
        + b"{{{j}}}\n",
    ),
]


@pytest.mark.slow("waits for a limit")
@pytest.mark.parametrize(("kind", "data"), SLOW)
def test_what_never_ends_is_ended(kind: str, data: bytes) -> None:
    source = source_of(kind).equipped(SourceTools(DocumentLimits(seconds=2)))
    with pytest.raises(
        UnreadableArticleError, match=f"guide: guide.{kind} took longer than 2 s; raise KB_DOCUMENT_SECONDS"
    ):
        source.read("guide", f"guide.{kind}", data)


@pytest.mark.slow("fills a limit")
def test_what_needs_too_much_memory_is_ended() -> None:
    source = source_of("rst").equipped(SourceTools(DocumentLimits(memory_mb=50)))
    with pytest.raises(UnreadableArticleError, match=r"guide\.rst needed more than 50 MB of memory"):
        source.read("guide", "guide.rst", b"Word *a* word.\n" * 100_000)


def test_too_much_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(UnreadableArticleError, match="has 21,000,000 bytes of text, at most 20,000,000 are read"):
        read_rst("a" * 21_000_000)


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb_pipeline.sources.pandoc.program.find_spec", lambda _: None)
    with pytest.raises(
        UnreadableArticleError, match=r"guide.rst needs packages .*pip install 'kb-pipeline\[formats\]'"
    ):
        read_rst("words")


def test_what_pandoc_does_not_understand_is_said_with_the_place() -> None:
    with pytest.raises(UnreadableArticleError, match=r"guide: guide.org cannot be read by pandoc \(Error at .*line 2"):
        OrgSource().read("guide", "guide.org", b"\\begin{equation\n\\")
