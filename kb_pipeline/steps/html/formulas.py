"""Formulas: each once, as the TeX that the page carries for it, else as a line of its MathML.

Browsers get a formula several times: drawn, as MathML for screen readers, as TeX for editors. Which of them is hidden
is said by style sheets of the tools, which may not be on the page, so a formula is read before hidden text is.
"""

import re
from itertools import accumulate

from kb_pipeline.steps.html.dom import Element, classes, names, remove, text_of

_DRAWN = names("katex mathjax mathjax_display mathjax_svg mathjax_chtml mjx-chtml mwe-math-element")
_PREVIEW = "mathjax_preview"
_DISPLAY_STYLE = re.compile(r"\\(?:displaystyle|textstyle)\s*")
_DEEPEST = 100
"""Levels of MathML; what is nested deeper is read as text."""
_NO_FORMULA = names("annotation annotation-xml maction")


def spell_formulas(page: Element) -> None:
    """Replace every formula by one line of text, in place."""
    formulas = [each for each in page.iter("math", "script", "mjx-container", "span", "div") if _is_formula(each)]
    outermost = set(formulas)
    for formula in formulas:
        if outermost.isdisjoint(formula.iterancestors()):
            _spell(formula)
    remove(page, [each for each in page.iter("span", "div") if _PREVIEW in classes(each)])


def _is_formula(element: Element) -> bool:
    if element.tag in ("math", "mjx-container"):
        return True
    if element.tag == "script":
        return _is_tex(element)
    return element.get("class") is not None and not _DRAWN.isdisjoint(classes(element))


def _is_tex(script: Element) -> bool:
    return script.tag == "script" and (script.get("type") or "").lower().startswith("math/tex")


def _spell(formula: Element) -> None:
    if _is_tex(formula):
        formula.tag, formula.text = "span", " ".join((formula.text or "").split())
        return
    math = next(formula.iter("math"), None)
    following = formula.getnext()
    if following is not None and _is_tex(following) and not (formula.tail or "").strip():
        text = " ".join((following.text or "").split())
        following.tag, following.text = "span", None
    elif math is not None:
        text = _tex_of(math) or _line_of(math)
    else:
        return  # drawn with letters of its own, which are read as they stand
    if math is not None and not _is_drawn_beside(math, formula):
        formula = math  # what hides the MathML hides the formula
    else:
        formula.attrib.pop("aria-hidden", "")
    for child in list(formula):
        formula.remove(child)
    formula.tag, formula.text = "div" if formula.tag == "div" else "span", text


def _is_drawn_beside(math: Element, formula: Element) -> bool:
    """Return whether a formula holds anything besides its MathML."""
    around = {math, *math.iterdescendants(), *math.iterancestors()}
    return any(each not in around for each in formula.iter())


def _tex_of(math: Element) -> str:
    """Return the TeX that a formula was written in."""
    notes = (note for note in math.iter("annotation") if "tex" in (note.get("encoding") or "").lower())
    tex = next(map(text_of, notes), "") or math.get("alttext") or ""
    tex = " ".join(_DISPLAY_STYLE.sub("", tex).split())
    depths = list(accumulate((character == "{") - (character == "}") for character in tex))
    is_grouped = tex.startswith("{") and tex.endswith("}") and 0 not in depths[:-1]
    return tex[1:-1].strip() if is_grouped else tex


def _line_of(part: Element, depth: int = 0) -> str:
    """Return MathML as a line: ``(a + b)/c``, ``x^2``, ``sqrt(y)``."""
    if part.tag in _NO_FORMULA:
        return ""
    if part.tag == "mspace":
        return " "
    if part.tag == "mtext":
        return re.sub(r"\s+", " ", "".join(map(str, part.itertext())))
    if not len(part) or depth > _DEEPEST:
        return text_of(part)
    lines = [line for child in part if (line := _line_of(child, depth + 1))]
    match part.tag, lines:
        case "mfrac", [above, below]:
            return f"{_grouped(above)}/{_grouped(below)}"
        case (("msup" | "mover"), [base, above]):
            return f"{_grouped(base)}^{_grouped(above)}"
        case (("msub" | "munder"), [base, below]):
            return f"{_grouped(base)}_{_grouped(below)}"
        case (("msubsup" | "munderover"), [base, below, above]):
            return f"{_grouped(base)}_{_grouped(below)}^{_grouped(above)}"
        case "msqrt", _:
            return f"sqrt({''.join(lines)})"
        case "mroot", [base, degree]:
            return f"root({degree}, {base})"
        case "mfenced", _:
            separator = (part.get("separators", ",").strip() or " ")[:1]
            return f"{part.get('open', '(')}{f'{separator} '.join(lines)}{part.get('close', ')')}"
        case "mtable", _:
            return "; ".join(lines)
        case "mtr", _:
            return ", ".join(lines)
    return "".join(lines)


def _grouped(line: str) -> str:
    return line if line.isalnum() or len(line) == 1 else f"({line})"
