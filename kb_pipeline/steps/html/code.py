"""Replace code by placeholders, so that no later step can change it: blocks with their language, and code spans."""

import re
from collections.abc import Sequence

from lxml import etree

from kb_pipeline.steps.html.dom import Element, classes, dissolve, is_inside, names, replace_with_text
from kb_pipeline.steps.html.page_marks import PagedCode, put_around_code, read_signs, sign_pages
from kb_pipeline.steps.html.placeholders import Placeholders

CODE_BLOCKS = ("pre", "listing", "xmp")
_INLINE = ("code", "tt", "samp", "kbd")
_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush|sourcecode)[-:_]([\w+#.-]+)$")
_NO_LANGUAGE = frozenset(
    {"none", "text", "plain", "plaintext", "txt", "default", "source", "nohighlight", "console-output"}
)
LINE_NUMBERS = names("lineno linenos linenodiv gutter line-numbers-rows hljs-ln-numbers")
"""Classes of elements that number the lines of code."""


def mark_code_blocks(main: Element, placeholders: Placeholders) -> int:
    """Replace every code block by a placeholder of its fenced block, and return the number of fenced blocks.

    A table cell cannot hold a block, so there each line becomes a code span.
    """
    fences = 0
    blocks = list(main.iter(*CODE_BLOCKS))
    for block in [block for block in blocks if not is_inside(block, *CODE_BLOCKS)]:
        language, pages = _language(block), sign_pages(block)
        paged = read_signs(verbatim(block)) if pages else PagedCode(verbatim(block), ())
        replace_with_text(block, "", "p")
        if paged.code and is_inside(block, "table"):
            _mark_lines(block, pages, paged, placeholders)
            continue
        put_around_code(block, pages, paged)
        if paged.code:
            block.text = placeholders.add(fence(paged.code, language))
            fences += 1
    return fences


def _mark_lines(block: Element, pages: Sequence[Element], paged: PagedCode, placeholders: Placeholders) -> None:
    lines = paged.code.split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        block.extend(page for page, begins in zip(pages, paged.lines, strict=True) if begins == number)
        if line.strip():
            etree.SubElement(block, "span").text = placeholders.add(_for_cell(code_span(line.rstrip())))
            etree.SubElement(block, "br")


def join_code_lines(main: Element) -> None:
    """Turn Doxygen's listings, a ``div.fragment`` with a ``div.line`` per line, into ``pre`` elements."""
    for fragment in main.iter("div"):
        if "fragment" in classes(fragment) and any("line" in classes(line) for line in fragment):
            for line in fragment.iter("div"):
                line.tail = "\n"
            fragment.text = None
            fragment.tag = "pre"


def part_code_variants(main: Element) -> None:
    """Give each variant of a code block a block of its own: a switch above them shows one at a time, as Node.js does.

    They are the ``code`` elements of one ``pre``, each with a class of its own; lines of code share one, or have none.
    """
    for block in list(main.iter("pre")):
        variants = [part for part in block if part.tag == "code"]
        if len(variants) < 2 or len({part.get("class") for part in variants} - {None}) < len(variants):
            continue
        if (block.text or "").strip() or any((part.tail or "").strip() for part in block):
            continue
        for variant in reversed(variants[1:]):
            own = etree.Element("pre")
            own.append(variant)
            own.tail, block.tail = block.tail, None
            block.addnext(own)


def mark_inline_code(main: Element, placeholders: Placeholders) -> None:
    """Replace code in sentences by placeholders; links and images inside code are kept."""
    for code in list(main.iter(*_INLINE)):
        if code.tag not in _INLINE:
            continue
        in_table = is_inside(code, "table")
        for part in code.iterdescendants():
            if part.tag == "br":
                part.tail = " " + (part.tail or "")
            if part.tag != "a":
                dissolve(part)
        etree.strip_tags(code, "span", "div")
        code.text = _mark_text(code.text, placeholders, in_table)
        for link in code:
            link.text = _mark_text(link.text, placeholders, in_table)
            link.tail = _mark_text(link.tail, placeholders, in_table)
        dissolve(code)


def verbatim(block: Element) -> str:
    """Return the text of a code block as written, without line numbers and leading or trailing blank lines."""
    for part in list(block.iterdescendants()):
        if part.tag == "br":
            # A newline in the source right after the break belongs to the same line end.
            part.tail = "\n" + (part.tail or "").removeprefix("\n")
        elif not LINE_NUMBERS.isdisjoint(classes(part)):
            replace_with_text(part, "")
    lines = "".join(map(str, block.itertext())).split("\n")
    non_blank = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[non_blank[0] : non_blank[-1] + 1]) if non_blank else ""


def fence(code: str, language: str = "") -> str:
    """Return a fenced code block whose fence is longer than any run of backticks in the code."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


def code_span(code: str) -> str:
    """Return a code span (https://spec.commonmark.org/0.31.2/#code-spans)."""
    lengths = {len(run) for run in re.findall("`+", code)}
    ticks = "`" * next(n for n in range(1, len(lengths) + 2) if n not in lengths)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _mark_text(text: str | None, placeholders: Placeholders, in_table: bool) -> str:
    """Replace the text by a placeholder of a code span, and keep the white space around it outside."""
    code = " ".join((text or "").split())
    if not code or text is None:
        return text or ""
    span = code_span(code)
    before, after = " " * text[0].isspace(), " " * text[-1].isspace()
    return before + placeholders.add(_for_cell(span) if in_table else span, words=code) + after


def _for_cell(markdown: str) -> str:
    return markdown.replace("|", "\\|")


def _language(block: Element) -> str:
    """Return the language that the block, the code in it, or the highlighter's box around it declares."""
    around = [ancestor for ancestor, _ in zip(block.iterancestors(), range(3), strict=False)]
    for element in (block, *block.iter("code"), *around):
        declared = element.get("data-lang") or element.get("data-language")
        # SyntaxHighlighter writes class="brush: java".
        class_names = re.sub(r"(brush:)\s+", r"\1", (element.get("class") or "").lower().replace(";", " ")).split()
        for language in [declared] if declared else [match[1] for match in map(_LANGUAGE.match, class_names) if match]:
            return "" if language.lower() in _NO_LANGUAGE else re.sub(r"[^\w+#.-]", "", language.lower())
    return ""
