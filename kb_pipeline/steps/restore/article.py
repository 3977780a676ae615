"""A service's markdown becomes an article again: the order of the steps.

The article as ``steps.html`` converts it is the truth about everything but the service's words. Both are read as trees
of words and aligned; what the alignment tells is done to the service's tree. Each step changes the tree in place.
"""

from collections.abc import Sequence

from kb_pipeline.records import ConvertedArticle
from kb_pipeline.steps.html.dom import Element, text_of
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, Placeholders
from kb_pipeline.steps.markers import find_markers
from kb_pipeline.steps.restore.align import Alignment, align
from kb_pipeline.steps.restore.clean import clean_markdown
from kb_pipeline.steps.restore.code import restore_code_blocks
from kb_pipeline.steps.restore.code_spans import restore_code_spans
from kb_pipeline.steps.restore.edits import Edits
from kb_pipeline.steps.restore.headings import free_numbered_headings, restore_headings
from kb_pipeline.steps.restore.joins import join_pieces
from kb_pipeline.steps.restore.links import Links
from kb_pipeline.steps.restore.losses import Losses, lost_words
from kb_pipeline.steps.restore.lost_markers import LostMarkers
from kb_pipeline.steps.restore.markers import confirm_markers
from kb_pipeline.steps.restore.recognise import Marks, Names, mark_images
from kb_pipeline.steps.restore.sections import Sections
from kb_pipeline.steps.restore.tree import read_tree, write_tree
from kb_pipeline.steps.restore.words import Reading, Spot, read_words


def restore_article(local: ConvertedArticle, markdown: str | Sequence[str], converter: str) -> ConvertedArticle:
    """Make an article of what a service wrote, a text or those of its pages, with all that ``local`` knows of it.

    ``local`` is the same page by ``convert_html``; ``converter`` names the service and version. What could not be
    found again is at the end of its section, counted and named in the warnings.
    """
    marks = Marks(Placeholders())
    truth = _read_truth(local.markdown, marks)
    names = Names(image.file for image in local.images)
    text = markdown if isinstance(markdown, str) else "\n\n".join(markdown)
    tree = read_tree(mark_images(clean_markdown(text, local.markdown), names, marks))
    _free_markers(tree, marks)
    free_numbered_headings(truth, tree)
    losses = _restore(truth, tree, marks)
    return local.model_copy(
        update={
            "markdown": write_tree(tree, marks.placeholders),
            "unplaced_images": len(losses.unplaced_images),
            "warnings": (*local.warnings, *losses.warnings(converter)),
            "converter": converter,
        }
    )


def _restore(truth: Reading, tree: Element, marks: Marks) -> Losses:
    """Do all that the alignment tells to the tree: whole blocks first, then what stands inside the lines."""
    join_pieces(truth, *_compared(truth, tree, marks))
    reading, alignment = _compared(truth, tree, marks)
    lost_code = restore_code_blocks(truth, reading, alignment)
    headings = restore_headings(truth, reading, alignment)

    reading, alignment = _compared(truth, tree, marks)
    sections, edits = Sections(tree, truth, headings), Edits()
    found, lost = confirm_markers(truth, reading, alignment, marks, edits)
    texts = {word: marks.add(marks.files[truth.text(word)]) for word in lost}
    unplaced = LostMarkers(truth, reading, alignment, found).put_back(texts, sections, edits)
    lost_links = Links(truth, reading, alignment, marks.placeholders).put_back(sections, edits)
    restore_code_spans(truth, reading, alignment, marks.placeholders, edits)
    edits.apply()
    return Losses(
        altered_markers=marks.altered,
        lost_markers=len(lost) - len(unplaced),
        unplaced_images=tuple(marks.files[truth.text(word)] for word in unplaced),
        unplaced_links=tuple(lost_links),
        code_blocks=lost_code,
        words=lost_words(truth, alignment),
    )


def _read_truth(markdown: str, marks: Marks) -> Reading:
    tree = read_tree(_with_placeholders(markdown, marks))
    marks.literal = any("IMG:" in str(part) for part in tree.itertext())
    return read_words(tree, marks.keys)


def _with_placeholders(markdown: str, marks: Marks) -> str:
    parts, done = [], 0
    for marker in find_markers(markdown):
        parts += [markdown[done : marker.start], marks.add(marker.file)]
        done = marker.end
    return "".join([*parts, markdown[done:]])


def _compared(truth: Reading, tree: Element, marks: Marks) -> tuple[Reading, Alignment]:
    reading = read_words(tree, marks.keys)
    return reading, align(truth, reading)


def _free_markers(tree: Element, marks: Marks) -> None:
    """Take code around markers away; one among code is text of the code."""
    for element in list(tree.iter()):
        for spot in (Spot(element, False), Spot(element, True)):
            if not PLACEHOLDER.search(spot.text):
                continue
            for code in (spot.parent, *spot.parent.iterancestors()):
                if code.tag not in ("pre", "code"):
                    continue
                if PLACEHOLDER.sub("", text_of(code)).strip():
                    spot.write(PLACEHOLDER.sub(lambda match: marks.written[match[0]], spot.text))
                else:
                    code.tag = "p" if code.tag == "pre" else "span"
