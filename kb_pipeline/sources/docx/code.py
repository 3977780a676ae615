"""Finds code in a Word document by its font, where no style says that it is code.

A document that is mostly set in a font of fixed pitch has none: there it is only the look.
"""

from kb_pipeline.sources.docx.styles import Element, WordStyles, child, made_like, value
from kb_pipeline.sources.slides.text import FIXED_PITCH

INLINE_CODE = "kb-code"
"""The style of runs that are code in a sentence."""
_MOST = 0.5
"""The share of its letters from which on a document is merely set like this."""


def find_code(tree: Element, styles: WordStyles) -> set[Element]:
    """Give code in sentences the style of it, in place, and return the paragraphs that are nothing else."""
    runs = {run: _letters(run) for run in tree.iter("{*}r")}
    fixed = {run for run, letters in runs.items() if letters and _is_fixed(run, styles)}
    if sum(runs[run] for run in fixed) > _MOST * sum(runs.values()):
        return set()
    for run in fixed:
        _set_style(run)
    paragraphs = dict.fromkeys(next(run.iterancestors("{*}p"), None) for run in fixed)
    return {
        paragraph
        for paragraph in paragraphs
        if paragraph is not None and all(run in fixed for run in paragraph.iter("{*}r") if runs.get(run))
    }


def _letters(run: Element) -> int:
    return sum(len((text.text or "").strip()) for text in run.iterfind("{*}t"))


def _is_fixed(run: Element, styles: WordStyles) -> bool:
    """Whether the font of a run is of fixed pitch, by itself, its style, or that of its paragraph."""
    fonts = child(run, "rPr", "rFonts")
    if fonts is None and (style := value(child(run, "rPr", "rStyle"))):
        fonts = styles.first(style, "rPr", "rFonts")
    if fonts is None and (paragraph := next(run.iterancestors("{*}p"), None)) is not None:
        fonts = styles.first(styles.of_paragraph(paragraph), "rPr", "rFonts")
    if fonts is None:
        fonts = child(styles.run_defaults, "rFonts")
    return bool(FIXED_PITCH.search(value(fonts, "ascii")))


def _set_style(run: Element) -> None:
    properties = child(run, "rPr")
    if properties is None:
        properties = made_like(run, "rPr")
        run.insert(0, properties)
    style = child(properties, "rStyle")
    if style is None:
        style = made_like(run, "rStyle")
        properties.insert(0, style)
    style.set(style.tag.rpartition("}")[0] + "}val", INLINE_CODE)
