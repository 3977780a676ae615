"""Puts what stands in the paragraphs of a Word document, and mammoth does not read, into what it reads.

Text boxes, grouped pictures, equations, ticked boxes, the letters below ruby, line ends, signs of unknown fonts; charts
and diagrams become marks in the text, to be replaced in the HTML.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from lxml import etree

from kb_pipeline.sources.docx.styles import Element, child, is_on, made_like, value
from kb_pipeline.sources.office import DAMAGED, name_of
from kb_pipeline.sources.office_math import as_latex, is_structured
from kb_pipeline.sources.sign_fonts import PRIVATE_SIGNS, SIGN_FONTS
from kb_pipeline.sources.slides.graphics import chart_html, diagram_html

FORMULA = "kb-formula"
"""The style of runs that hold an equation as LaTeX."""
_TICKED, _EMPTY_BOX = "☑", "☐"
_GRAPHIC = "\ue000{token}:graphic:{number}\ue001"
_PRIVATE = range(0xD800, 0xF900)
"""Surrogates, and signs that mean something only in their font."""
_AROUND = ("fldSimple", "dir", "bdo")


class Graphics(NamedTuple):
    """The charts and diagrams of a document as HTML, and the token of the marks in their places.

    ``unread`` is how many others there are.
    """

    html: tuple[str, ...]
    token: str
    unread: int

    def in_html(self, html: str) -> str:
        """Replace the marks, each of which is a paragraph of its own, by the graphics."""
        mark = rf"(?:<p>)?\ue000{re.escape(self.token)}:graphic:(\d+)\ue001(?:</p>)?"
        return re.sub(mark, lambda found: self.html[int(found[1])], html)


def choose_alternatives(tree: Element) -> None:
    """Keep one of what is given in alternatives, in place: the newest form, unless an older one says more."""
    for alternatives in list(tree.iter("{*}AlternateContent")):
        forms = [one for one in alternatives if name_of(one) in ("Choice", "Fallback")]
        if forms and alternatives.getparent() is not None:
            kept = max(forms, key=_content_in)  # the first of equal ones
            for form in forms:
                if form is not kept:
                    alternatives.remove(form)
    etree.strip_tags(tree, "{*}AlternateContent", "{*}Choice", "{*}Fallback")


def _content_in(form: Element) -> tuple[int, int]:
    pictures = sum(name_of(one) in ("blip", "imagedata") for one in form.iter() if isinstance(one.tag, str))
    return sum(len(text.text or "") for text in form.iter("{*}t")), pictures


def spell_out_runs(tree: Element) -> None:
    """Replace what mammoth does not read in runs by what it does, in place."""
    for ruby in list(tree.iter("{*}ruby")):
        below = child(ruby, "rubyBase")
        letters = () if below is None else (text.text or "" for text in below.iter("{*}t"))
        _replace(ruby, _text(ruby, "".join(letters)))
    for end in tree.iter("{*}cr"):
        end.tag = made_like(end, "br").tag
    for tab in tree.iter("{*}ptab"):
        tab.tag = made_like(tab, "tab").tag
    for sign in list(tree.iter("{*}sym")):
        code = value(sign, "char")
        if re.fullmatch(r"[0-9A-Fa-f]{4}", code) and int(code, 16) not in _PRIVATE and chr(int(code, 16)).isprintable():
            _replace(sign, _text(sign, chr(int(code, 16))))
    for run in tree.iter("{*}r"):
        fonts = child(run, "rPr", "rFonts")
        if (font := value(fonts, "ascii") or value(fonts, "hAnsi")) in SIGN_FONTS:
            for text in list(run.iterfind("{*}t")):
                _write_signs(text, font)
        _spell_out_position(run)
    etree.strip_tags(tree, *(f"{{*}}{name}" for name in _AROUND))
    _spell_out_ticks(tree)
    _spell_out_choices(tree)


def _spell_out_position(run: Element) -> None:
    """Say of text that LibreOffice raised or lowered, in smaller letters than those before, that it is an index."""
    properties, before = child(run, "rPr"), run.getprevious()
    position, size = value(child(properties, "position")), value(child(properties, "sz"))
    is_text = before is not None and name_of(before) == "r"
    if not is_text or not position.lstrip("-").strip("0") or not size or size == value(child(before, "rPr", "sz")):
        return
    if properties is not None and child(properties, "vertAlign") is None:
        index = made_like(properties, "vertAlign")
        namespace = index.tag.rpartition("}")[0]
        index.set(f"{namespace}}}val", "subscript" if position.startswith("-") else "superscript")
        properties.append(index)


def _write_signs(text: Element, font: str) -> None:
    """Replace letters that a font shows as signs by what Word itself writes for them."""
    for letter in text.text or "":
        code = ord(letter) - 0xF000 if ord(letter) in PRIVATE_SIGNS else ord(letter)
        sign = _text(text, letter)
        if 0x20 < code < 0x100:
            sign = made_like(text, "sym")
            namespace = sign.tag.rpartition("}")[0]
            sign.set(f"{namespace}}}font", font)
            sign.set(f"{namespace}}}char", f"F0{code:02X}")
        text.addprevious(sign)
    text.getparent().remove(text)


def _spell_out_ticks(tree: Element) -> None:
    """Write boxes that are ticked or not as signs that say so, in place."""
    for control in list(tree.iter("{*}checkbox")):
        properties = control.getparent()
        content = child(properties.getparent(), "sdtContent")
        properties.remove(control)  # or mammoth makes a control of it
        signs = [] if content is None else [one for one in content.iter("{*}t", "{*}sym") if _is_sign(one)]
        if signs:
            _replace(signs[0], _text(signs[0], _tick(child(control, "checked")) + (signs[0].text or "").lstrip()[1:]))
    for box in list(tree.iter("{*}checkBox")):
        if (begin := next(box.iterancestors("{*}fldChar"), None)) is not None:
            state = child(box, "checked")
            begin.addprevious(_text(begin, _tick(child(box, "default") if state is None else state)))
            _remove_field(begin)


def _spell_out_choices(tree: Element) -> None:
    """Write what is chosen in the lists of old forms, in place."""
    for choices in list(tree.iter("{*}ddList")):
        begin = next(choices.iterancestors("{*}fldChar"), None)
        entries = [value(entry) for entry in choices.iterfind("{*}listEntry")]
        chosen = value(child(choices, "result")) or value(child(choices, "default")) or "0"
        if begin is not None and chosen.isdecimal() and int(chosen) < len(entries):
            begin.addprevious(_text(begin, entries[int(chosen)]))
            _remove_field(begin)


def _tick(state: Element | None) -> str:
    return _TICKED if is_on(state) else _EMPTY_BOX


def _is_sign(text: Element) -> bool:
    return name_of(text) == "sym" or bool((text.text or "").strip())


def _remove_field(begin: Element) -> None:
    """Take a field out of its paragraph, with what Word shows for it."""
    paragraph = next(begin.iterancestors("{*}p"), None)
    parts = [] if paragraph is None else list(paragraph.iter("{*}fldChar", "{*}instrText"))
    for part in parts[parts.index(begin) :] if begin in parts else ():
        part.getparent().remove(part)
        if value(part, "fldCharType") == "end":
            return


def free_boxes_and_pictures(tree: Element) -> None:
    """Put the blocks of text boxes after the paragraph from which they hang, and pictures out of groups, in place."""
    for box in reversed(list(tree.iter("{*}txbxContent"))):
        if (paragraph := next(box.iterancestors("{*}p"), None)) is not None:
            for block in reversed(list(box)):
                paragraph.addnext(block)
    for data in list(tree.iter("{*}graphicData")):
        for picture in list(data.iter("{*}pic")):
            if picture.getparent() is not data:
                data.append(picture)


def spell_out_equations(tree: Element) -> None:
    """Replace equations by runs of their LaTeX, and those that are a line of signs by that line, in place."""
    made: set[Element] = set()
    for equation in list(tree.iter("{*}oMath")):
        if (paragraph := next(equation.iterancestors("{*}p"), None)) is None:
            continue
        run, text = made_like(paragraph, "r"), as_latex(equation)
        if is_structured(equation):
            sign = "$$" if name_of(equation.getparent()) == "oMathPara" else "$"
            properties, style = made_like(paragraph, "rPr"), made_like(paragraph, "rStyle")
            style.set(style.tag.rpartition("}")[0] + "}val", FORMULA)
            properties.append(style)
            run.append(properties)
            text = f"{sign}{text}{sign}"
        run.append(_text(paragraph, text))
        if equation.getprevious() in made:
            between = made_like(paragraph, "r")
            between.append(_text(paragraph, " "))
            equation.addprevious(between)
        _replace(equation, run)
        made.add(run)
    etree.strip_tags(tree, "{*}oMathPara")


def mark_graphics(tree: Element, token: str, part_of: Callable[[str], Element | None]) -> Graphics:
    """Put a mark after each paragraph with a chart or diagram, in place.

    ``part_of`` returns the part that a relationship names.
    """
    marks: list[str] = []
    unread = 0
    for frame in reversed(list(tree.iter("{*}graphicData"))):
        paragraph = next(frame.iterancestors("{*}p"), None)
        for name, key, write in (("chart", "id", chart_html), ("relIds", "dm", diagram_html)):
            if paragraph is None or (inner := child(frame, name)) is None:
                continue
            if html := _graphic(part_of, value(inner, key), write):
                marked, run = made_like(paragraph, "p"), made_like(paragraph, "r")
                run.append(_text(paragraph, _GRAPHIC.format(token=token, number=len(marks))))
                marked.append(run)
                paragraph.addnext(marked)
                marks.append(html)
            else:
                unread += 1
    return Graphics(tuple(marks), token, unread)


def _graphic(part_of: Callable[[str], Element | None], relationship: str, write: Callable[[Element], str]) -> str:
    try:
        part = part_of(relationship)
        return "" if part is None else write(part)
    except DAMAGED:
        return ""


def _text(like: Element, text: str) -> Element:
    written = made_like(like, "t")
    written.text = text
    return written


def _replace(element: Element, other: Element) -> None:
    other.tail = element.tail
    element.getparent().replace(element, other)
