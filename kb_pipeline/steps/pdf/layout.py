"""Pages without tags become HTML, by how they look.

``study`` reads the whole document once; ``layout_html`` then writes any run of pages that follow each other, so that
other pages of the same document may be read by their tags or from their pictures.
"""

from collections.abc import Callable, Mapping, Sequence

from kb_pipeline.steps.pdf.arrange import arrange
from kb_pipeline.steps.pdf.blocks import Figure
from kb_pipeline.steps.pdf.inline import Inline, PageMarks
from kb_pipeline.steps.pdf.study import Study
from kb_pipeline.steps.pdf.write import Writer


def layout_html(
    study: Study,
    numbers: Sequence[int],
    page_element: Callable[[int, str], str],
    figures: Mapping[int, Sequence[Figure]] | None = None,
) -> str:
    """Write the pages ``numbers``, which follow each other, each with its mark where it begins.

    ``page_element`` makes the mark of a page's number and label; ``figures`` are the pictures cut out of the pages, by
    page. May be called once for a page, as its notes are taken from it.
    """
    labels = [(number, study.sheets[number].label) for number in numbers if number in study.sheets]
    marks = PageMarks(labels, page_element)
    links = {number: study.sheets[number].links for number, _ in labels}
    inline = Inline(study.words, study.fixed_fonts, marks)
    return Writer(inline, marks, links).html(arrange(study, numbers, figures or {}))
