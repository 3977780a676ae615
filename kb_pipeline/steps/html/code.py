"""Code: blocks verbatim with their language, and code inside sentences.

Both become placeholders, so that no later step can touch a character of them.
"""

import re

from lxml import etree

from kb_pipeline.steps.html.dom import Element, classes, dissolve, names, replace_with_text
from kb_pipeline.steps.html.placeholders import Placeholders

CODE_BLOCKS = ("pre", "listing", "xmp")
_INLINE = ("code", "tt", "samp", "kbd")
_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush|sourcecode)[-:_]([\w+#.-]+)$")
_NO_LANGUAGE = frozenset(
    {"none", "text", "plain", "plaintext", "txt", "default", "source", "nohighlight", "console-output"}
)
_LINE_NUMBERS = names("lineno linenos linenodiv gutter line-numbers-rows hljs-ln-numbers")


def mark_code_blocks(main: Element, placeholders: Placeholders) -> int:
    """Replace every code block by a placeholder of its fence, and return how many fences there are.

    In the cell of a table, which holds no block, each line becomes a code span.
    """
    fences = 0
    blocks = list(main.iter(*CODE_BLOCKS))
    for block in [block for block in blocks if next(block.iterancestors(*CODE_BLOCKS), None) is None]:
        language, code = _language(block), verbatim(block)
        in_table = next(block.iterancestors("table"), None) is not None
        tail = block.tail
        block.clear()
        block.tag, block.tail = "p", tail
        if code and in_table:
            _add_lines(block, code, placeholders)
        elif code:
            block.text = placeholders.add(fence(code, language))
            fences += 1
    return fences


def _add_lines(block: Element, code: str, placeholders: Placeholders) -> None:
    for line in code.split("\n"):
        if line.strip():
            part = etree.SubElement(block, "span")
            part.text = placeholders.add(_for_cell(code_span(line.rstrip())))
            etree.SubElement(block, "br")


def mark_inline_code(main: Element, placeholders: Placeholders) -> None:
    """Replace code inside sentences by placeholders; links and images in it stay what they are."""
    for code in list(main.iter(*_INLINE)):
        if code.tag not in _INLINE:
            continue
        in_table = next(code.iterancestors("table"), None) is not None
        for part in code.iterdescendants():
            if part.tag == "br":
                part.tail = " " + (part.tail or "")
            if part.tag != "a":
                dissolve(part)
        etree.strip_tags(code, "span", "div")
        code.text = _code_span(code.text, placeholders, in_table)
        for link in code:
            link.text = _code_span(link.text, placeholders, in_table)
            link.tail = _code_span(link.tail, placeholders, in_table)
        dissolve(code)


def verbatim(block: Element) -> str:
    """The text of a code block as the author wrote it, without line numbers and blank outer lines."""
    for part in list(block.iterdescendants()):
        if part.tag == "br":
            # A line end in the source right after the break is the same line end.
            part.tail = "\n" + (part.tail or "").removeprefix("\n")
        elif not _LINE_NUMBERS.isdisjoint(classes(part)):
            replace_with_text(part, "")
    lines = "".join(map(str, block.itertext())).split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def fence(code: str, language: str = "") -> str:
    """A fenced code block whose fence is longer than any run of backticks in it."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


def code_span(code: str) -> str:
    """A code span (https://spec.commonmark.org/0.31.2/#code-spans)."""
    longest = {len(run) for run in re.findall("`+", code)}
    ticks = "`" * next(n for n in range(1, len(longest) + 2) if n not in longest)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _code_span(text: str | None, placeholders: Placeholders, in_table: bool) -> str:
    """The text as a placeholder of a code span, with the white space around it outside."""
    code = " ".join((text or "").split())
    if not code or text is None:
        return text or ""
    span = code_span(code)
    before, after = " " * text[0].isspace(), " " * text[-1].isspace()
    return before + placeholders.add(_for_cell(span) if in_table else span) + after


def _for_cell(markdown: str) -> str:
    return markdown.replace("|", "\\|")


def _language(block: Element) -> str:
    """The language the block, the code in it, or the highlighter's box around it declares."""
    around = [ancestor for ancestor, _ in zip(block.iterancestors(), range(3), strict=False)]
    for element in (block, *block.iter("code"), *around):
        declared = element.get("data-lang") or element.get("data-language")
        found = [declared] if declared else [m[1] for m in map(_LANGUAGE.match, _joined_classes(element)) if m]
        for language in found:
            return "" if language.lower() in _NO_LANGUAGE else re.sub(r"[^\w+#.-]", "", language.lower())
    return ""


def _joined_classes(element: Element) -> list[str]:
    # SyntaxHighlighter writes class="brush: java".
    return re.sub(r"(brush:)\s+", r"\1", (element.get("class") or "").lower().replace(";", " ")).split()


def join_code_lines(main: Element) -> None:
    """Give Doxygen's listings their element: it writes a ``div.fragment`` with a ``div.line`` for each line."""
    for fragment in main.iter("div"):
        if "fragment" in classes(fragment) and any("line" in classes(line) for line in fragment):
            for line in fragment.iter("div"):
                line.tail = "\n"
            fragment.text = None
            fragment.tag = "pre"
