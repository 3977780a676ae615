"""What a service writes into its markdown that is no markdown of the article: boxes, marks, formulas.

Worked on as text, outside of code, before it is parsed; HTML in it is the parser's business (``tree``).
"""

import re
from collections.abc import Callable
from html.entities import html5

from kb_pipeline.steps.html.decode import clean

_FENCED = re.compile(
    r"^(?P<indent>[ \t>]*+)(?P<fence>`{3,}+|~{3,}+)[^`\n]*+$(?:\n.*+)*?(?:\n[ \t>]*+(?P=fence)[`~]*+[ \t]*+$|\Z)", re.M
)
_FRAME = re.compile(r"</?(?:figure|figcaption|figurecontent|section|div|center|article|main)(?:\s[^<>]*)?/?>", re.I)
_SELECTION = re.compile(r":(?:un)?selected:|[\u2610-\u2612]")
_FORMULA = re.compile(r"(?<![\\$\w])\$(?!\$)([^$\n]{1,60}?)(?<!\\)\$(?![$\w])")
_COMMAND = re.compile(r"\\([A-Za-z]+|[%$&#_{} ,;])|\^\s*\{?\s*\\circ\s*\}?|[{}^_$]")
_OTHER_NAMES = {
    **{"to": "→", "gets": "←", "dots": "…", "ldots": "…", "cdots": "⋯", "degree": "°", "quad": " ", "qquad": " "},
    **{"textbf": "", "textit": "", "text": "", "mathrm": "", "mathbf": "", "rm": "", "bf": "", "left": "", "right": ""},
    **{
        "blacktriangleright": "▶",
        "triangleright": "▷",
        "textbackslash": "\\\\",
        "textgreater": ">",
        "textless": "&lt;",
    },
}
"""Names of TeX that MathML does not share."""


def clean_markdown(markdown: str, article: str) -> str:
    """The markdown without what the service added; what ``article`` holds itself stays what it is."""
    head, end, tail = clean(markdown).rpartition("-->")
    # A comment that never ends would swallow the rest.
    text = head + end + tail.replace("<!--", "&lt;!--")
    return _outside_code(text, lambda part: _clean(part, article))


def _clean(text: str, article: str) -> str:
    text = _FRAME.sub("\n\n", text)
    text = _SELECTION.sub(lambda match: match[0] if match[0] in article else "", text)
    return _FORMULA.sub(lambda match: match[0] if match[0] in article else _words_of(match), text)


def _words_of(formula: re.Match[str]) -> str:
    """The characters a formula stands for; the formula itself if it is more than a few signs and words."""
    if "\\" not in formula[1] and "^" not in formula[1]:
        return formula[0]
    text = _COMMAND.sub(_sign, formula[1])
    return formula[0] if "\0" in text else text.strip()


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if name is None:
        return "°" if "circ" in command[0] else "" if command[0] in "{}" else "\0"
    if not name.isalpha():
        return " " if name in " ,;" else f"\\{name}"
    return _OTHER_NAMES.get(name, html5.get(f"{name};", "\0"))


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    parts, done = [], 0
    for code in _FENCED.finditer(markdown):
        parts += [change(markdown[done : code.start()]), code[0]]
        done = code.end()
    return "".join([*parts, change(markdown[done:])])
