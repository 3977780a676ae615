"""Turn a service's markdown into an article: the order of the steps.

The article as converted by ``steps.html`` is the truth about everything but the service's words. Both are read as
sequences of words and aligned, and the service's tree is changed accordingly, in place, step by step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from kb_pipeline.records import ConvertedArticle, Unplaced
from kb_pipeline.steps.checks.specs import named, number, short
from kb_pipeline.steps.html.convert import flatten_tree
from kb_pipeline.steps.html.dom import HEADINGS, Element, parse, remove, text_of
from kb_pipeline.steps.html.hidden import drop_hidden, hide
from kb_pipeline.steps.html.links import tidy_links
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.page import visible_body
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, Placeholders, without_placeholders
from kb_pipeline.steps.html.tables import unwrap_layout_tables
from kb_pipeline.steps.markdown_parsers import service_parser
from kb_pipeline.steps.markers import find_markers
from kb_pipeline.steps.restore.align import Alignment, align
from kb_pipeline.steps.restore.code import restore_code_blocks, restore_code_spans
from kb_pipeline.steps.restore.edits import Edits
from kb_pipeline.steps.restore.joins import join_pieces
from kb_pipeline.steps.restore.links import LinkRestorer
from kb_pipeline.steps.restore.markers import LostMarkers, confirm_markers, place_by_name
from kb_pipeline.steps.restore.page import clean_markdown
from kb_pipeline.steps.restore.recognise import Marks, Names, figures_as_markers, mark_images
from kb_pipeline.steps.restore.sections import Sections, free_numbered_headings, restore_headings
from kb_pipeline.steps.restore.words import Reading, Spot, read_words

_WORTH_A_WARNING = 0.02
"""Share of words from which a loss is told; a word here and there is only misread."""
_AT_LEAST = 5
"""Words from which it is told of a short page."""
_SHOWN = 12
"""Words of the longest loss that a warning quotes, enough to find the place."""


@dataclass(slots=True)
class Losses:
    """Counts and names of what the service lost or altered."""

    altered_markers: int = 0
    lost_markers: int = 0
    unplaced: tuple[Unplaced, ...] = ()
    code_blocks: int = 0
    words: tuple[str, ...] = ()

    def warnings(self, converter: str) -> tuple[str, ...]:
        """Return one sentence for each kind of loss."""
        altered = [
            *([f"{number(self.altered_markers, 'altered marker')} recognised"] if self.altered_markers else ()),
            *([f"{number(self.lost_markers, 'lost image')} put back after the same text"] if self.lost_markers else ()),
        ]
        messages = [f"{converter} altered the places of images: {', '.join(altered)}"] if altered else []
        for noun in ("image", "link"):
            items = [lost.name for lost in self.unplaced if lost.kind == noun]
            messages += named(noun, "without a place put at the end of the section", items)
        if self.code_blocks:
            messages.append(
                f"{number(self.code_blocks, 'code block')} not found again, and not in the article's own words"
            )
        return (*messages, *self.words)


def restore_article(local: ConvertedArticle, markdown: str | Sequence[str], converter: str) -> ConvertedArticle:
    """Build an article from a service's markdown (one text, or the texts of its pages) and all that ``local`` holds.

    ``local`` is the same page converted by ``convert_html``; ``converter`` names the service and its version. Images
    and links whose place is unknown go to the end of their section and are named in ``unplaced``, which fails a check.
    """
    marks = Marks(Placeholders())
    truth = read_truth(local.markdown, marks)
    text = markdown if isinstance(markdown, str) else "\n\n".join(markdown)
    tree = read_service(text, local, marks)
    free_numbered_headings(truth, tree)
    losses = restore_tree(truth, tree, marks)
    return local.model_copy(
        update={
            "markdown": write_tree(tree, marks.placeholders),
            "unplaced_images": sum(lost.kind == "image" for lost in losses.unplaced),
            "unplaced": losses.unplaced,
            "warnings": (*local.warnings, *losses.warnings(converter)),
            "converter": converter,
        }
    )


def read_truth(markdown: str, marks: Marks) -> Reading:
    """Read the article's own markdown; ``marks`` then holds its image markers."""
    tree = read_tree(_with_placeholders(markdown, marks))
    marks.literal = any("IMG:" in str(part) for part in tree.itertext())
    return read_words(tree, marks.keys)


def read_service(text: str, local: ConvertedArticle, marks: Marks) -> Element:
    """Return the tree of a service's markdown, with placeholders for what are, or may be, images of the article."""
    names = Names(image.file for image in local.images)
    tree = read_tree(mark_images(clean_markdown(figures_as_markers(text, names), local.markdown), names, marks))
    _free_markers(tree)
    return tree


def restore_tree(truth: Reading, tree: Element, marks: Marks) -> Losses:
    """Change the tree according to the alignment: first whole blocks, then the text inside lines."""
    join_pieces(truth, *_align_tree(truth, tree, marks))
    reading, alignment = _align_tree(truth, tree, marks)
    lost_code = restore_code_blocks(truth, reading, alignment)
    _write_markers_in_code(tree, marks)
    headings = restore_headings(truth, reading, alignment)

    reading, alignment = _align_tree(truth, tree, marks)
    sections, edits = Sections(tree, truth, headings), Edits()
    confirmed = confirm_markers(truth, reading, alignment, marks, edits)
    texts = {word: marks.add(marks.files[truth.text(word)]) for word in confirmed.lost}
    unplaced = LostMarkers(truth, reading, alignment, confirmed.matches).restore(texts, edits)
    unplaced = place_by_name(truth, reading, confirmed, unplaced, texts, marks, edits)
    for word in unplaced:
        sections.add_paragraph(word, texts[word])
    unplaced_links = LinkRestorer(truth, reading, alignment, marks.placeholders).restore(sections, edits)
    restore_code_spans(truth, reading, alignment, marks.placeholders, edits)
    edits.apply()
    return Losses(
        altered_markers=marks.altered,
        lost_markers=len(confirmed.lost) - len(unplaced),
        unplaced=(
            *(Unplaced(kind="image", name=marks.files[truth.text(n)], section=_section(truth, n)) for n in unplaced),
            *(Unplaced(kind="link", name=name, section=_section(truth, n)) for n, name in unplaced_links),
        ),
        code_blocks=lost_code,
        words=lost_words(truth, alignment),
    )


def lost_words(truth: Reading, alignment: Alignment) -> tuple[str, ...]:
    """Warn if many words of the article are missing in the service's text: how many, and the longest run."""
    lost = [n for n, word in enumerate(truth.words) if not word.is_mark and n not in alignment.places]
    if len(lost) < max(_AT_LEAST, _WORTH_A_WARNING * len(truth.words)):
        return ()
    start = longest_start = length = 0
    for place, word in enumerate(lost):
        start = place if not place or lost[place - 1] != word - 1 else start
        if place - start + 1 > length:
            longest_start, length = lost[start], place - start + 1
    words = " ".join(truth.text(word) for word in range(longest_start, longest_start + min(length, _SHOWN)))
    section = _section(truth, longest_start)
    below = f" below {short(section)!r}" if section else ""
    share = f"{len(lost):,} of {len(truth.words):,} words"
    return (f"{share} of the source were not found in the result, most in a row{below}: {short(words)!r}",)


def _section(truth: Reading, word: int) -> str:
    """Return the text of the heading above a word of the article; "" before the first one."""
    heading = next((span for span in reversed(truth.of(*HEADINGS)) if span.first <= word), None)
    return without_placeholders(text_of(heading.element)).strip() if heading else ""


def _with_placeholders(markdown: str, marks: Marks) -> str:
    parts, done = [], 0
    for marker in find_markers(markdown):
        parts += [markdown[done : marker.start], marks.add(marker.file)]
        done = marker.end
    return "".join([*parts, markdown[done:]])


def _align_tree(truth: Reading, tree: Element, marks: Marks) -> tuple[Reading, Alignment]:
    reading = read_words(tree, marks.keys)
    return reading, align(truth, reading)


def _free_markers(tree: Element) -> None:
    """Remove code around a marker that is alone in it."""
    for _, code in _code_with_markers(tree):
        if not PLACEHOLDER.sub("", text_of(code)).strip():
            code.tag = "p" if code.tag == "pre" else "span"


def _write_markers_in_code(tree: Element, marks: Marks) -> None:
    """Turn markers in what is code into text of it again."""
    for spot, _ in _code_with_markers(tree):
        spot.write(PLACEHOLDER.sub(lambda match: marks.written[match[0]], spot.text))


def _code_with_markers(tree: Element) -> list[tuple[Spot, Element]]:
    spots = [Spot(element, is_tail) for element in tree.iter() for is_tail in (False, True)]
    return [
        (spot, code)
        for spot in spots
        if PLACEHOLDER.search(spot.text)
        for code in (spot.parent, *spot.parent.iterancestors())
        if code.tag in ("pre", "code")
    ]


def read_tree(markdown: str) -> Element:
    """Return the tree of a markdown text without anything invisible or images; mark those beforehand.

    A service mixes markdown with HTML (tables, figures, page breaks). Read as a browser would, both become one tree.
    """
    page = parse(service_parser().render(markdown))
    body = etree.Element("body")
    if page is not None:
        hidden = hide(page)
        body = visible_body(page)
        drop_hidden(body, hidden)
    remove(body, list(body.iter("img", "image")))
    return body


def write_tree(tree: Element, placeholders: Placeholders) -> str:
    """Write the tree as markdown."""
    tidy_links(tree)
    unwrap_layout_tables(tree)
    flatten_tree(tree, placeholders)
    return write_markdown(tree, placeholders)
