"""The regular expressions of the stream guard, and the results of its readers.

Every pattern is bounded and free of backtracking, so that hostile text takes no more time than other text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST_LABEL = 1000
"""Characters between brackets: CommonMark reads 999 of a label."""
LONGEST_TARGET = 2000
"""Characters of an address: what browsers and servers handle for sure."""
LONGEST_CODE = 1000
"""Characters within which a code span closes; a stream waits for it no longer."""
LONGEST_RUN = 100
"""Backticks in a row that can open code. Nobody writes more, and each number has a pattern that is kept."""

_INSIDE = r"[^\[\]\\\n]++|\\[^\n]"
LABEL = re.compile(rf"\[(?:{_INSIDE}|\[(?:{_INSIDE})*+\])*+\]")

_INNER = r"[^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+"
TARGET = re.compile(rf"\(({_INNER})\)")
LOOSE_TARGET = re.compile(r"\(([^)\n]*+)\)?")
TITLE = re.compile(r"""(?<!\s)\s++(?:"[^"]*+"|'[^']*+'|\([^()]*+\))\Z""")

DEFINITION = re.compile(
    r"""\[(?P<label>[^\[\]\n]{1,999})\]:[ \t]*+(?P<target><[^<>\n]*+>|[^\s<>]++)"""
    r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?[ \t]*+(?=\n|\Z)"""
)
LEADS_SOMEWHERE = re.compile(r"[/.:<\\]")

LENTICULAR = re.compile(r"【([^【】\n]{0,200})】")
ROUND = re.compile(r"\(([^()\n]{1,100})\)")
BARE_REFERENCE = re.compile(r"ref ?#([0-9]{1,4})(?![\w-])", re.IGNORECASE)
BETWEEN_REFERENCES = re.compile(r"[ \t]{0,8}(?:[,;][ \t]{0,8})?")

TAG = re.compile(rf"<[^<>\n]{{0,{LONGEST_TARGET}}}+>")
READ_TAGS = frozenset({"img", "br", "sub", "sup", "/sub", "/sup"})
HOLDS_IMAGE = re.compile(r"!\[|<img", re.IGNORECASE)
TAG_NAME = re.compile(r"<(/?[A-Za-z][\w.+-]*+)")
AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+)>")
MAIL = re.compile(r"<([\w.+-]+@[\w.-]+)>")
KEPT_TAG = re.compile(r"<(?:br ?/?|/?su[bp])>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""\b(src|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)

ENDS_SENTENCE = re.compile(r"[?!.,:;)]*(?=\s|\Z)")
SCHEME_OR_WWW = re.compile(
    r"\A(?:[a-z][a-z0-9+.-]*:(?=//)|(?:mailto|xmpp|tel|javascript):|/+|(?:www|ftp)\.)", re.IGNORECASE
)
ENDS_ADDRESS = re.compile(r"(?:://|(?<![A-Za-z0-9])www\.|@)[^\s>`]*\Z", re.IGNORECASE)
ENDS_NAME = re.compile(r"[.@:/][^\s>`]*\Z")
ENDS_WWW = re.compile(r"(?:\A|[^A-Za-z0-9])(?:www|ftp)\Z", re.IGNORECASE)
ADDRESS = re.compile(r"""[^\s<>"`|\\^{}\[\]【】]*+""")
FOREIGN_TARGET = re.compile(r"\]\(([^)\n]*//[^)\n]*)")


_ADDRESS = r"https?://|(?<![A-Za-z0-9])(?:www\.|ftp\.|mailto:|/?api/images/|attachment:|sandbox:|ref[ ]?\#)"
BEGINS_ADDRESS = re.compile(r"https?://|(?:www|ftp)\.|mailto:|/?api/images/|attachment:|sandbox:", re.IGNORECASE)
SPECIAL = re.compile(
    rf"""
    [\n`\[\]【(<\\] | !(?=\[) | ~(?=~~)
  | [ \t]{{1,8}}(?=[\[【(!<]|\Z|{_ADDRESS})     # dropped with what follows it
  | {_ADDRESS}
  | :(?=//) | (?<=[/\\])/ | @ | &(?=[#A-Za-z])      # signs of an address
  | \.(?=[^\W\d_])
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BracketedSpan:
    """A bracketed part of the text: where it ends, and what is between the brackets."""

    end: int
    inner: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """What the text up to ``end`` becomes: ``text``, nothing if that is empty; ``None`` if it is already written."""

    end: int
    text: str | None = ""


Reading = Replacement | None
"""What a reader of a sign returns; ``None`` stands for plain text."""


def end_of_code(text: str, start: int, length: int) -> int | None:
    """Where code in a line ends, behind as many backticks as it began with.

    ``start`` is the place behind the ``length`` opening backticks.
    """
    if length >= LONGEST_RUN:
        return None
    newline = text.find("\n", start)
    stop = min(start + LONGEST_CODE, newline if newline != -1 else len(text))
    closing = _closing_ticks(length).search(text, start, stop)
    return closing.end() if closing and text[closing.end() : closing.end() + 1] != "`" else None


@lru_cache(maxsize=LONGEST_RUN)
def _closing_ticks(length: int) -> re.Pattern[str]:
    return re.compile(f"(?<!`)`{{{length}}}(?!`)")
