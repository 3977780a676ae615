"""What the structure tags of a PDF become, and what the places of words decide where tags leave it open."""

from dataclasses import replace

from kb_pipeline.steps.pdf.model import Box, Page, PdfLink, Style, Word
from kb_pipeline.steps.pdf.tagged import Content, Element, TaggedText, tagged_html


class Draft:
    """Pages with marked content, and the tree that refers to it."""

    def __init__(self) -> None:
        self.words: dict[int, list[Word]] = {1: []}
        self.links: list[PdfLink] = []
        self._mcid = -1

    def text(self, text: str, left: float = 50, top: float = 100, page: int = 1, fixed: bool = False) -> Content:
        """Words of 6 points a letter, from ``left`` to the right."""
        self._mcid += 1
        style = Style(fixed_pitch=fixed, mcid=self._mcid)
        for word in text.split(" "):
            if word:
                box = Box(left, top, left + 6 * len(word), top + 10)
                self.words.setdefault(page, []).append(Word(word, box, top + 8, style))
            left += 6 * (len(word) + 1)
        return Content(page, self._mcid)

    def html(
        self,
        *roots: Element,
        others: dict[int, str] | None = None,
        pictures: dict[tuple[int, int], str] | None = None,
    ) -> TaggedText:
        for page in range(1, max(self.words)):
            self.words.setdefault(page, [])
        edge = Word("|", Box(540, 700, 546, 710), 708, Style())  # how far lines reach
        pages = [
            Page(number, 600, 800, (*words, edge), tuple(self.links)) for number, words in sorted(self.words.items())
        ]
        return tagged_html(roots, pages, lambda number: f"[{number}]", pictures or {}, others or {})


def element(kind: str, *children: Element | Content, **attributes: str | float) -> Element:
    return Element(kind, attributes=attributes, children=dict(enumerate(children)))


def test_paragraphs_and_headings_keep_their_roles() -> None:
    draft = Draft()
    tree = element(
        "Document", element("H2", draft.text("Pumps")), element("P", draft.text("They move water.", top=120))
    )
    assert draft.html(tree).html == "[1]<h2>Pumps</h2><p>They move water.</p>"


def test_a_page_begins_where_its_first_word_stands() -> None:
    draft = Draft()
    tree = element("P", draft.text("before"), draft.text("after", page=2))
    assert draft.html(tree).html == "[1]<p>before [2]after</p>"


def test_pages_without_anything_have_their_marks_in_order() -> None:
    draft = Draft()
    tree = element("Document", element("P", draft.text("one")), element("P", draft.text("four", page=4)))
    assert draft.html(tree).html == "[1]<p>one</p>[2][3][4]<p>four</p>"


def test_a_page_that_the_tree_does_not_hold_stands_between_the_blocks() -> None:
    draft = Draft()
    tree = element("P", draft.text("one"), draft.text("three", page=3))
    assert draft.html(tree, others={2: "<p>two</p>"}).html == "[1]<p>one [2][3]three</p><p>two</p>"


def test_a_list_is_numbered_if_its_labels_are() -> None:
    def item(label: str, text: str) -> Element:
        return element("LI", element("Lbl", draft.text(label)), element("LBody", draft.text(text)))

    draft = Draft()
    assert "<ul><li><p>Hose</p></li></ul>" in draft.html(element("L", item("•", "Hose"))).html
    assert '<ol start="3"><li><p>Hose</p></li></ol>' in draft.html(element("L", item("3.", "Hose"))).html
    numbered = element("L", item("1.", "Hose"), item("7.", "Pump"), item("8.", "Key"))
    assert '<ol><li><p>Hose</p></li><li value="7"><p>Pump</p></li><li><p>Key</p></li></ol>' in draft.html(numbered).html
    assert '<ol type="a" start="2"><li><p>Hose</p></li></ol>' in draft.html(element("L", item("b)", "Hose"))).html
    roman = element("L", item("IV.", "Hose"), ListNumbering="UpperRoman")
    assert '<ol type="I" start="4"><li><p>Hose</p></li></ol>' in draft.html(roman).html


def test_a_header_that_is_one_element_with_the_words_of_each_page_is_taken_once() -> None:
    draft = Draft()
    heads = [element("TH", *(draft.text(text, page=page) for page in (1, 2, 3))) for text in ("Part", "Price")]
    rows = [
        element("TR", *(element("TD", draft.text(f"{text}{page}", page=page)) for text in "xy")) for page in (1, 2, 3)
    ]
    made = draft.html(element("Table", element("THead", element("TR", *heads)), element("TBody", *rows)))
    head = "<tr><th><p>Part</p></th><th><p>Price</p></th></tr>"
    assert made.html.replace("<table>", "").startswith(f"[1]{head}<tr><td><p>x1</p>")
    assert made.html.index("x1") < made.html.index("[2]") < made.html.index("x2") < made.html.index("[3]")
    assert made.left_out == {2: "Part Price", 3: "Part Price"}


def test_the_repeated_header_of_a_table_is_taken_once_and_said_to_be_left_out() -> None:
    draft = Draft()

    def row(kind: str, text: str, page: int) -> Element:
        return element("TR", element(kind, draft.text(text, page=page)))

    table = element("Table", row("TH", "Part", 1), row("TD", "Hose", 1), row("TH", "Part", 2), row("TD", "Key", 2))
    made = draft.html(table)
    assert made.html.count("Part") == 1
    assert "<tr><td>[2]<p>Key</p></td></tr>" in made.html
    assert made.left_out == {2: "Part"}


def test_what_a_table_holds_beside_its_rows_follows_it() -> None:
    draft = Draft()
    row = element("TR", element("TD", element("P", draft.text("Hose"))))
    beside = element("Sect", element("P", draft.text("Iowa Ethanol", top=140)))
    html = draft.html(element("Table", element("TBody", row, beside), element("P", draft.text("2017", top=180)))).html
    assert html == "[1]<table><tr><td><p>Hose</p></td></tr></table><p>Iowa Ethanol</p><p>2017</p>"


def test_text_right_inside_of_a_row_or_a_list_is_kept() -> None:
    draft = Draft()
    table = element("Table", element("TR", draft.text("Hose"), element("TD", draft.text("12", left=200))))
    items = element("L", draft.text("Parts", top=140), element("LI", element("LBody", draft.text("Key", top=160))))
    html = draft.html(table, items).html
    assert "<tr><td><p>Hose</p></td><td><p>12</p></td></tr>" in html
    assert "Parts" in html
    assert "Key" in html


def test_cells_keep_their_spans() -> None:
    draft = Draft()
    row = element("TR", element("TD", draft.text("wide"), ColSpan=2, RowSpan=1))
    assert '<td colspan="2">' in draft.html(element("Table", row)).html


def test_tables_of_contents_are_left_out() -> None:
    draft = Draft()
    tree = element("Document", element("TOC", element("TOCI", draft.text("Pumps 7"))), element("P", draft.text("Text")))
    made = draft.html(tree)
    assert "Pumps" not in made.html
    assert made.left_out == {1: "Pumps 7"}


def test_actual_text_stands_for_what_is_drawn() -> None:
    draft = Draft()
    span = Element("Span", actual_text="fi", children={0: draft.text("X")})
    assert "<p>fi</p>" in draft.html(element("P", span)).html


def test_words_of_a_link_lead_to_its_address() -> None:
    draft = Draft()
    tree = element("P", draft.text("see"), element("Link", draft.text("the shop", left=80)))
    draft.links.append(PdfLink(Box(78, 98, 140, 112), "https://shop.example/a?b=1&c"))
    assert '<p>see <a href="https://shop.example/a?b=1&amp;c">the shop</a></p>' in draft.html(tree).html


def test_of_a_file_on_the_authors_machine_only_the_name_is_kept() -> None:
    draft = Draft()
    tree = element("P", element("Link", draft.text("hoses")))
    draft.links.append(PdfLink(Box(48, 98, 140, 112), "file:///home/me/manual/hoses.html#long"))
    assert 'href="hoses.html#long"' in draft.html(tree).html


def test_groups_without_a_role_are_paragraphs_where_a_line_ends_early() -> None:
    draft = Draft()
    term, meaning = draft.text("Pump"), draft.text("It moves water.", top=111)
    tree = element("Document", element("NonStruct", term), element("NonStruct", meaning))
    assert "<p>Pump</p><p>It moves water.</p>" in draft.html(tree).html


def test_text_that_goes_on_in_the_next_line_is_one_paragraph() -> None:
    draft = Draft()
    line = "word " * 15 + "words"
    tree = element("Document", element("Span", draft.text(line)), element("Span", draft.text("go on", top=111)))
    assert "words go on</p>" in draft.html(tree).html


def test_lines_in_a_font_of_fixed_pitch_are_code_with_their_indentation() -> None:
    draft = Draft()
    lines = [draft.text("def run():", fixed=True), draft.text("go(1,  2)", left=74, top=112, fixed=True)]
    end = draft.text("run()", top=136, fixed=True)
    assert "<pre>def run():\n    go(1,  2)\n\nrun()</pre>" in draft.html(element("NonStruct", *lines, end)).html


def test_a_word_of_fixed_pitch_in_prose_is_code() -> None:
    draft = Draft()
    tree = element("P", draft.text("call"), draft.text("run()", left=80, fixed=True))
    assert "<p>call <code>run()</code></p>" in draft.html(tree).html


def test_markup_in_the_text_is_text() -> None:
    draft = Draft()
    assert "<p>&lt;b&gt; &amp;</p>" in draft.html(element("P", draft.text("<b> &"))).html


def test_artifacts_are_left_out() -> None:
    draft = Draft()
    tree = element("Document", element("Artifact", draft.text("page 7")), element("P", draft.text("Text")))
    assert "page 7" not in draft.html(tree).html


def test_labels_are_on_the_picture_but_sentences_before_one_are_text() -> None:
    """Presentations paint the boxes of a diagram as images, with whole paragraphs on them."""

    def shown(*lines: str) -> TaggedText:
        draft = Draft()
        texts = [draft.text(line, top=100 + 12 * place) for place, line in enumerate(lines)]
        figure = replace(element("Figure", texts[0], element("P", *texts[1:])), alt="A pump")
        return draft.html(figure, pictures={(1, 0): "boxes.png"})

    labels = shown("1 2 3 4 5 6 7 8 9 10 11", "pump valve hose", "tank  of  the  pump  is  far  from  the  next")
    assert "valve" not in labels.html
    assert labels.html.count("boxes.png") == 1
    sentence = "Let the pump run until no water is left in the tank."
    text = shown("Pumps", sentence, "Then stop it.")
    assert f"{sentence} Then stop it." in text.html
    assert text.html.count('<img src="boxes.png" alt="A pump">') == 1
    assert not any(text.on_pictures.values())
