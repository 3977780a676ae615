"""Equations of Office documents (OMML, ECMA-376 part 1, 22.1) as LaTeX.

Letters and signs stay as they are, because LaTeX renderers and readers know them: ``A=πr^{2}``.
"""

from collections.abc import Callable
from typing import Any

from kb_pipeline.sources.office import name_of

Element = Any
"""An element of lxml."""

_DEEPEST = 60
"""Parts within parts; a deeper equation is damaged, and its text is kept."""
_SIGNS = {
    **{"∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint"},
    **{"⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge"},
}
_ACCENTS = {
    **{"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0306": "breve", "\u0307": "dot"},
    **{
        "\u0308": "ddot",
        "\u030c": "check",
        "\u0301": "acute",
        "\u0300": "grave",
        "\u20d7": "vec",
        "\u0332": "underline",
    },
    **{"\u00af": "bar", "\u20db": "dddot", "^": "hat", "~": "tilde", "": "hat"},
}
_BRACES = {"⏞": "overbrace", "⏟": "underbrace", "¯": "overline", "_": "underline", "": "underbrace"}
_FUNCTIONS = {
    *("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos", "arctan"),
    *("log", "ln", "lg", "exp", "det", "dim", "gcd", "lim", "max", "min", "sup", "inf", "arg", "ker", "deg", "hom"),
}
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "#$%&_{}"} | {"\\": r"\backslash ", "−": "-"})
_NEXT_ROW = r" \\ "
_FENCES = {"{": r"\{", "}": r"\}", "‖": r"\|", "": "."}


def as_latex(equation: Element) -> str:
    """Write an equation (``m:oMath``) as LaTeX; one that is a mere line of signs stays that line."""
    if not any(name_of(part) in _PARTS for part in equation.iter()):
        return _plain(equation)
    written = _row(equation, 0)
    return " ".join(written.split()) if written else _plain(equation)


def is_structured(equation: Element) -> bool:
    """Whether an equation is more than a line of signs."""
    return any(name_of(part) in _PARTS for part in equation.iter())


def _plain(equation: Element) -> str:
    return "".join(part.text or "" for part in equation.iter() if name_of(part) == "t")


def _child(element: Element, *names: str) -> Element | None:
    child: Element | None = element
    for name in names:
        child = None if child is None else child.find(f"{{*}}{name}")
    return child


def _said(element: Element, *names: str) -> str | None:
    """The value of a property; ``None`` if it is not there."""
    child = _child(element, *names)
    if child is None:
        return None
    return next((str(said) for key, said in child.attrib.items() if str(key).rpartition("}")[2] == "val"), "")


def _is_on(element: Element, *names: str) -> bool:
    return _said(element, *names) not in (None, "0", "off", "false")


def _row(element: Element | None, depth: int) -> str:
    if element is None:
        return ""
    if depth > _DEEPEST:
        return _plain(element).translate(_ESCAPED)
    return "".join(_part(part, depth + 1) for part in element if isinstance(part.tag, str))


def _part(part: Element, depth: int) -> str:
    name = name_of(part)
    if name == "r":
        return _run(part)
    if name in _PARTS:
        return _PARTS[name](part, depth)
    return "" if name.endswith("Pr") or name in ("del", "moveFrom") else _row(part, depth)


def _run(run: Element) -> str:
    text = "".join(
        " " if name_of(part) == "br" else part.text or "" for part in run if name_of(part) in ("t", "br", "instrText")
    )
    if _is_on(run, "rPr", "nor") and any(letter.isalpha() for letter in text):
        return rf"\text{{{text.translate(_ESCAPED)}}}"
    return text.translate(_ESCAPED)


def _argument(part: Element, name: str, depth: int) -> str:
    return _row(_child(part, name), depth)


def _base(part: Element, depth: int) -> str:
    """What scripts are set to: in braces unless it is one sign."""
    base = _argument(part, "e", depth)
    return base if len(base) == 1 or base.isalnum() else f"{{{base}}}"


def _fraction(part: Element, depth: int) -> str:
    above, below = _argument(part, "num", depth), _argument(part, "den", depth)
    kind = _said(part, "fPr", "type")
    if kind == "lin":
        return f"{{{above}}}/{{{below}}}"
    form = r"\genfrac{}{}{0pt}{}" if kind == "noBar" else r"\frac"
    return f"{form}{{{above}}}{{{below}}}"


def _root(part: Element, depth: int) -> str:
    degree = "" if _is_on(part, "radPr", "degHide") else _argument(part, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_argument(part, 'e', depth)}}}"


def _scripts(part: Element, depth: int) -> str:
    return _base(part, depth) + _below_and_above(_argument(part, "sub", depth), _argument(part, "sup", depth))


def _scripts_before(part: Element, depth: int) -> str:
    return "{}" + _below_and_above(_argument(part, "sub", depth), _argument(part, "sup", depth)) + _base(part, depth)


def _below_and_above(below: str, above: str) -> str:
    return (f"_{{{below}}}" if below.strip() else "") + (f"^{{{above}}}" if above.strip() else "")


def _large(part: Element, depth: int) -> str:
    said = _said(part, "naryPr", "chr")
    sign = "∫" if said is None else said
    below = "" if _is_on(part, "naryPr", "subHide") else _argument(part, "sub", depth)
    above = "" if _is_on(part, "naryPr", "supHide") else _argument(part, "sup", depth)
    return f"{_SIGNS.get(sign, sign)}{_below_and_above(below, above)}{{{_argument(part, 'e', depth)}}}"


def _fenced(part: Element, depth: int) -> str:
    begin, between, end = (_said(part, "dPr", name) for name in ("begChr", "sepChr", "endChr"))
    parts = [_row(one, depth) for one in part.iterfind("{*}e")]
    left, right = "(" if begin is None else begin, ")" if end is None else end
    inner = ("|" if between is None else between).join(parts)
    return rf"\left{_FENCES.get(left, left)}{inner}\right{_FENCES.get(right, right)}"


def _function(part: Element, depth: int) -> str:
    name = _argument(part, "fName", depth)
    plain = name.removeprefix(r"\text{").removesuffix("}") if name.startswith(r"\text{") else name
    head = next(
        (one for one in _FUNCTIONS if plain == one or plain.startswith((f"{one}_", f"{one}^", f"{{{one}}}"))), ""
    )
    if head:
        plain = "\\" + plain.replace(f"{{{head}}}", head, 1)
    return f"{plain}{{{_argument(part, 'e', depth)}}}"


def _matrix(part: Element, depth: int) -> str:
    rows = (" & ".join(_row(cell, depth) for cell in row.iterfind("{*}e")) for row in part.iterfind("{*}mr"))
    return rf"\begin{{matrix}}{_NEXT_ROW.join(rows)}\end{{matrix}}"


def _lines(part: Element, depth: int) -> str:
    lines = [_row(line, depth) for line in part.iterfind("{*}e")]
    if len(lines) == 1:
        return lines[0]
    return rf"\begin{{aligned}}{_NEXT_ROW.join(lines)}\end{{aligned}}"


def _accent(part: Element, depth: int) -> str:
    sign = _said(part, "accPr", "chr")
    return rf"\{_ACCENTS.get(sign or '', 'hat')}{{{_argument(part, 'e', depth)}}}"


def _bar(part: Element, depth: int) -> str:
    name = "overline" if _said(part, "barPr", "pos") == "top" else "underline"
    return rf"\{name}{{{_argument(part, 'e', depth)}}}"


def _grouped(part: Element, depth: int) -> str:
    sign = _said(part, "groupChrPr", "chr") or ""
    base = _argument(part, "e", depth)
    if sign in _BRACES:
        return rf"\{_BRACES[sign]}{{{base}}}"
    above = _said(part, "groupChrPr", "pos") == "top"
    return rf"\{'overset' if above else 'underset'}{{{sign}}}{{{base}}}"


def _limit(place: str) -> Callable[[Element, int], str]:
    return lambda part, depth: f"{_base(part, depth)}{place}{{{_argument(part, 'lim', depth)}}}"


_PARTS: dict[str, Callable[[Element, int], str]] = {
    **{"f": _fraction, "rad": _root, "sSub": _scripts, "sSup": _scripts, "sSubSup": _scripts, "sPre": _scripts_before},
    **{"nary": _large, "d": _fenced, "func": _function, "m": _matrix, "eqArr": _lines, "acc": _accent, "bar": _bar},
    **{"groupChr": _grouped, "limLow": _limit("_"), "limUpp": _limit("^")},
}
"""How each part that has a form of its own is written."""
