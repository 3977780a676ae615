import pytest

from kb_pipeline_tests.steps.html.pages import image, markdown

DOCBOOK = (
    '<div class="note" style="margin-left: 0.5in"><table border="0" summary="Note"><tr>'
    '<td rowspan="2"><img alt="[Note]" src="note.png"></td><th align="left">Note</th></tr>'
    '<tr><td align="left"><p>Careful</p></td></tr></table></div>'
)
PUBLICAN = (
    '<div class="note"><div class="admonition_header"><p><strong>Note</strong></p></div>'
    '<div><div class="para">Careful</div></div></div>'
)


@pytest.mark.parametrize(
    "html",
    [
        DOCBOOK,
        PUBLICAN,
        '<div class="note note"><span class="notetitle">Note:</span> Careful</div>',
        '<div class="admonition note"><p class="admonition-title">Note</p><p>Careful</p></div>',
        '<div class="admonitionblock note"><table><tr><td class="icon"><i class="fa icon-note" title="Note"></i></td>'
        '<td class="content"><div class="paragraph"><p>Careful</p></div></td></tr></table></div>',
        '<div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div></td>'
        '<td class="content">Careful</td></tr></table></div>',
        '<dl class="section note"><dt>Note</dt><dd>Careful</dd></dl>',
        '<details class="note" open><summary>Note</summary><p>Careful</p></details>',
        '<aside class="note">Careful</aside>',
        '<p class="note">Careful</p>',
    ],
)
def test_every_dialect_of_a_note_is_the_same_quote(html: str) -> None:
    assert markdown(html, image("note.png", 48, 48)) == "> **Note:** Careful"


def test_the_authors_title_wins_over_the_kind() -> None:
    html = '<div class="admonition warning"><p class="admonition-title">Mind the gap</p><p>x</p></div>'
    assert markdown(html) == "> **Mind the gap:** x"


def test_a_text_that_names_its_kind_itself_is_not_labelled_again() -> None:
    assert markdown('<div class="warning">Warning: hot</div>') == "> Warning: hot"


def test_a_title_that_is_a_heading_stays_one() -> None:
    html = '<h2>Section</h2><div class="note"><h3 class="title">Note</h3><p>Careful</p></div>'
    assert markdown(html) == "## Section\n\n> ### Note\n>\n> Careful"


def test_lists_code_and_tables_in_a_note_stay_what_they_are() -> None:
    html = (
        '<div class="tip"><p>Use:</p><ul><li>a<li>b</ul><pre>c</pre><table><tr><th>x<th>y<tr><td>1<td>2</table></div>'
    )
    assert markdown(html) == (
        "> **Tip:** Use:\n>\n> - a\n> - b\n>\n> ```\n> c\n> ```\n>\n> | x | y |\n> | --- | --- |\n> | 1 | 2 |"
    )


def test_a_note_after_a_list_and_in_a_list_item() -> None:
    note = '<div class="note">n</div>'
    assert markdown(f"<ul><li>a</ul>{note}<ol><li><p>b</p>{note}</li></ol>") == (
        "- a\n\n> **Note:** n\n\n1. b\n\n   > **Note:** n"
    )


def test_a_link_in_the_title_stays_a_link() -> None:
    html = '<div class="admonition"><p class="admonition-title">About <a href="run">run</a>:</p><p>It starts.</p></div>'
    assert markdown(f"<p>x</p>{html}") == "x\n\n> **About [run](run):** It starts."
