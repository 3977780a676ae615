"""Habits that document services have been seen to have, applied to the markdown that a double writes.

Each habit is a function of a markdown text and a chance, and leaves fenced code alone. The same text has the same
chance, so a double always gives the same answer. Not here: who turns pages into markdown
(``content_understanding_markdown``, ``mistral_reader``).
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline_tests.steps.restore.services import outside_code

Habit = Callable[[str, random.Random], str]

_MARKER = re.compile(r"\\?\[\\?\[IMG:((?:[^\[\]\\\n]|\\.)+?)\\?\]\\?\]")
_HEADING = re.compile(r"^(#{1,6}) (?!.*IMG:)(.+?)(?: #+)?$", re.M)
_HTML = re.compile(r"(<[^>\n]*>|\\?\[\\?\[IMG:.*?\]\\?\]|(?<=\]\()[^)\s]*\))")
_PARAGRAPH = re.compile(r"^[A-Z](?:[\w,.:;'()-]+ ){14,}.*$", re.M)
_RULED_TABLE = re.compile(r"^\|.*\|$", re.M)


def _in_words(change: Callable[[str], str]) -> Callable[[str], str]:
    """Change what readers see: neither tags nor markers nor the targets of links."""
    return lambda text: "".join(part if number % 2 else change(part) for number, part in enumerate(_HTML.split(text)))


def typographic(markdown: str, chance: random.Random) -> str:
    """Quotes, dashes, dots and spaces become those of print."""

    def printed(text: str) -> str:
        text = re.sub(r'(?<!\w)"(?=\w)', "\u201c", text).replace('"', "\u201d")
        text = re.sub(r"(?<=\w)'(?=\w)", "\u2019", text).replace("...", "\u2026").replace(" - ", " \u2013 ")
        return re.sub(r"(?<=[a-z]) (?=[a-z])", lambda _: "\u00a0" if chance.random() < 0.02 else " ", text)

    return outside_code(markdown, _in_words(printed))


def escaped_signs(markdown: str, chance: random.Random) -> str:
    """Signs are escaped that need not be, and some signs become entities."""

    def escaped(text: str) -> str:
        text = re.sub(
            r"(?<=\w)([.!(){}+_-])(?=\w)", lambda sign: sign[0] if chance.random() < 0.5 else f"\\{sign[0]}", text
        )
        return text.replace(" & ", " &amp; ")

    return outside_code(markdown, _in_words(escaped))


def other_levels(markdown: str, chance: random.Random) -> str:
    """Every heading gets some level."""
    return outside_code(
        markdown, lambda text: _HEADING.sub(lambda line: f"{'#' * chance.randint(1, 5)} {line[2]}", text)
    )


def renamed_headings(markdown: str, chance: random.Random) -> str:
    """Headings get a number or a colon, shout, or become a bold line."""
    numbers = iter(range(1, 10_000))

    def renamed(line: re.Match[str]) -> str:
        level, title = line[1], line[2]
        ways = (f"{level} {next(numbers)}. {title}", f"{level} {title}:", f"**{title}**", f"{level} {title.upper()}")
        return chance.choice((line[0], *ways))

    return outside_code(markdown, lambda text: _HEADING.sub(renamed, text))


def reflowed(markdown: str, chance: random.Random) -> str:
    """Paragraphs are broken into lines as on a page, with words divided at their ends."""

    def broken(paragraph: re.Match[str]) -> str:
        words = paragraph[0].split(" ")
        place = chance.randrange(4, len(words) - 4)
        if (word := words[place]).isalpha() and len(word) > 7 and chance.random() < 0.5:
            words[place] = f"{word[:4]}-\n{word[4:]}"
        return " ".join(words[:place]) + "\n" + " ".join(words[place:])

    return outside_code(markdown, lambda text: _PARAGRAPH.sub(broken, text))


def reworded(markdown: str, chance: random.Random) -> str:
    """Two words in five are other words, as if a language model had said it in its own."""

    def other(text: str) -> str:
        return re.sub(r"[A-Za-z]{3,}", lambda word: _other_word(word[0]) if chance.random() < 0.4 else word[0], text)

    return outside_code(markdown, _in_words(other))


def _other_word(word: str) -> str:
    return "".join(random.Random(word).choice("bcdfghklmnprstvwzaeiou") for _ in word)


def text_as_code(markdown: str, chance: random.Random) -> str:
    """Three paragraphs in ten are indented, as steps of a list are, and so become code."""

    def indented(block: str) -> str:
        is_text = block.strip() and not block.startswith(("<", "|", "#", "-", "*", "+")) and "```" not in block
        return f"    {block}".replace("\n", "\n    ") if is_text and chance.random() < 0.3 else block

    return outside_code(markdown, lambda text: "\n\n".join(map(indented, text.split("\n\n"))))


def commented_pages(markdown: str, _chance: random.Random) -> str:
    """Pages end and begin with comments, as in Content Understanding's documentation of its markdown."""
    title = (_HEADING.search(markdown) or ["", "", "Manual"])[2].replace('"', "")
    return _between_blocks(
        markdown,
        lambda page: (
            f'<!-- PageFooter="Confidential" -->\n<!-- PageNumber="{page}" -->\n<!-- PageBreak -->\n\n'
            f'<!-- PageHeader="{title}" -->'
        ),
    )


def printed_pages(markdown: str, _chance: random.Random) -> str:
    """Running heads and page numbers stand among the text, as OCR reads them."""
    return _between_blocks(markdown, lambda page: f"Confidential\n\nPage {page} of 99\n\nUser guide, November 2026")


def _between_blocks(markdown: str, border: Callable[[int], str], blocks_a_page: int = 12) -> str:
    blocks, is_outside, page = markdown.split("\n\n"), True, 0
    for number, block in enumerate(blocks):
        may_begin = is_outside and not block.startswith((" ", "\t", "|"))
        is_outside ^= block.count("```") % 2 == 1
        if number and number % blocks_a_page == 0 and may_begin:
            page += 1
            blocks[number] = f"{border(page)}\n\n{block}"
    return "\n\n".join(blocks)


def images_in_figures(markdown: str, _chance: random.Random) -> str:
    """What looks like an image reference becomes a figure with the file's name below it."""
    return _of_markers(markdown, lambda name: f"\n\n<figure>\n\n{name}\n\n</figure>\n\n")


def images_numbered(markdown: str, _chance: random.Random) -> str:
    """Images get names of the service's own, in the order of the page."""
    numbers = iter(range(10_000))
    return _of_markers(markdown, lambda _: "![img-{0}.jpeg](img-{0}.jpeg)".format(next(numbers)))


def images_moved(markdown: str, _chance: random.Random) -> str:
    """All images stand at the end, in order."""
    found: list[str] = []

    def taken(name: str) -> str:
        found.append(f"[[IMG:{name}]]")
        return ""

    return "\n\n".join([_of_markers(markdown, taken), *found])


def images_lost(markdown: str, _chance: random.Random) -> str:
    """No image is left."""
    return _of_markers(markdown, lambda _: "")


def _of_markers(markdown: str, write: Callable[[str], str]) -> str:
    """Write every marker anew; in a table, which is one block, on its line."""

    def written(marker: re.Match[str]) -> str:
        text = write(marker[1])
        line = markdown[markdown.rfind("\n", 0, marker.start()) + 1 : marker.start()]
        return " ".join(text.split()) if line.lstrip().startswith(("|", "<td", "<th")) else text

    return _MARKER.sub(written, markdown)


@dataclass(frozen=True)
class Habits:
    """What becomes of a service's markdown: all habits in order; ``keeps_links`` where the service reads HTML."""

    all: Sequence[Habit] = ()
    keeps_links: bool = False

    def of(self, markdown: str) -> str:
        chance = random.Random(len(markdown))
        for habit in self.all:
            markdown = habit(markdown, chance)
        return markdown


CAREFUL = (typographic, escaped_signs)
CARELESS = (*CAREFUL, renamed_headings, other_levels, reflowed)

CONTENT_UNDERSTANDING: Mapping[str, Habits] = {
    "careful": Habits((*CAREFUL, commented_pages)),
    "careful, links kept": Habits((*CAREFUL, commented_pages), keeps_links=True),
    "careful, text as code": Habits((*CAREFUL, text_as_code, commented_pages)),
    "careless": Habits((*CARELESS, commented_pages)),
    "careless, images in figures": Habits((*CARELESS, images_in_figures, commented_pages)),
    "careless, images moved": Habits((*CARELESS, images_moved, commented_pages)),
    "careless, images lost": Habits((*CARELESS, images_lost, commented_pages)),
    "reworded, images lost": Habits((*CARELESS, reworded, images_lost, commented_pages)),
}
MISTRAL: Mapping[str, Habits] = {
    "careful": Habits(CAREFUL),
    "careless": Habits((*CARELESS, printed_pages)),
    "careless, images numbered": Habits((*CARELESS, images_numbered, printed_pages)),
    "careless, images lost": Habits((*CARELESS, images_lost, printed_pages)),
}
