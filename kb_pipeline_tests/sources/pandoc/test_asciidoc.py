"""AsciiDoc, with what Asciidoctor's preprocessor decides."""

import pytest

from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.pandoc.asciidoc import AsciidocSource
from kb_pipeline_tests.sources.reading import markdown_of


def read(text: str) -> SourceDocument:
    return AsciidocSource().read("guide", "guide.adoc", text.encode())


def test_a_document_keeps_its_structure() -> None:
    text = """= Refunds
Ann Lee <ann@example.com>
// a comment in the head
:url: https://example.com

== Ask

See {url}/list[the list]footnote:[Since 2026.] and `{url}`.

image::dialog.png[The dialog]

[source,python]
----
refund("{url}")  // not replaced
----

|===
|Reason |Days

|R1 |5
|R2 |7
|===
"""
    assert markdown_of(read(text), "dialog.png").split("\n\n") == [
        "# Refunds",
        "## Ask",
        "See [the list](https://example.com/list)<sup>[\\[1\\]](#fn1)</sup> and [`https://example.com`](https://example.com).",
        "[[IMG:dialog.png]]",
        '```python\nrefund("{url}")  // not replaced\n```',
        "| Reason | Days |\n| --- | --- |\n| R1 | 5 |\n| R2 | 7 |",
        "---",
        "1. Since 2026.",
    ]


CONDITIONS = [
    ("ifdef::a[]\nx\nendif::[]", False),
    (":a:\n\nifdef::a[]\nx\nendif::[]", True),
    (":a:\n:!a:\n\nifdef::a[]\nx\nendif::[]", False),
    ("ifndef::a[]\nx\nendif::a[]", True),
    ("ifndef::a[x]", True),
    ("ifdef::a[x]", False),
    (":b:\n\nifdef::a,b[]\nx\nendif::[]", True),
    (":b:\n\nifdef::a+b[]\nx\nendif::[]", False),
    ("ifeval::[{level} < 20]\nx\nendif::[]", True),
    ("ifdef::a[]\nifndef::b[]\nx\nendif::[]\nendif::[]", False),
    ("endif::[]\nx", True),
]


@pytest.mark.parametrize(("lines", "shown"), CONDITIONS)
def test_a_condition_decides_what_is_read(lines: str, shown: bool) -> None:
    words = markdown_of(read(f"{lines}\n\nend\n")).split()
    assert words == (["x", "end"] if shown else ["end"])


def test_marks_for_other_documents_are_left_out() -> None:
    assert markdown_of(read("----\n# tag::part[]\ncode\n// end::part[]\n----\n// end::all[]\n")) == "```\ncode\n```"


@pytest.mark.parametrize("file", ["/etc/passwd", "../secret.adoc", "http://127.0.0.1:9/x.adoc"])
def test_other_files_are_not_taken_in_and_named(file: str) -> None:
    found = read(f"include::{file}[tag=a]\n\nwords\n\n----\ninclude::{file}[]\n----\n")
    assert found.warnings == (
        f"guide.adoc takes in other files, which are not read ('{file}'); put their text into the document",
    )
    assert "words" in found.html


def test_attributes_of_attributes_do_not_grow_without_end() -> None:
    bomb = ":a: xxxxxxxxxx\n" + "".join(
        f":{b}: {f'{{{a}}}' * 10}\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    text = (f"= T\n{bomb}\n" + "{c} {i} words\n" * 5_000).encode()
    assert len(AsciidocSource().prepare("guide.adoc", text)[0]) < len(text) + 1_010_000
