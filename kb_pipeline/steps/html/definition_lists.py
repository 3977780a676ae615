"""Definition lists, for which CommonMark has no notation: the term in bold, its definition below."""

from kb_pipeline.steps.html.dom import Element, dissolve, has_text, is_block, wrap_content


def spell_out_definition_lists(main: Element) -> None:
    """Turn every term into a bold paragraph and every definition into plain blocks, in place.

    Summaries of details are terms, too.
    """
    for element in list(main.iter("dt", "dd", "dl", "summary")):
        if element.tag in ("dt", "summary"):
            _set_term(element)
        else:
            dissolve(element)


def _set_term(term: Element) -> None:
    term.attrib.clear()
    if any(map(is_block, term.iterdescendants())):
        term.tag = "div"
        return
    term.tag = "p"
    if has_text(term):
        wrap_content(term, "strong")
