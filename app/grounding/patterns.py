"""What a stream of markdown is searched for: beginnings that may mean something, and the ends that belong to them.

Every pattern is bounded and free of backtracking, so that hostile text takes no more time than other text.
"""

import re

LONGEST_LABEL = 1000
LONGEST_TARGET = 2000
LONGEST_CODE = 1000
LONGEST_RUN = 100
LONGEST_REFERENCE = 210

_INSIDE = r"[^\[\]\\\n]++|\\[^\n]"
_LABEL = rf"\[(?:{_INSIDE}|\[(?:{_INSIDE})*+\])*+"
LABEL = re.compile(rf"{_LABEL}\]")
OPEN_LABEL = re.compile(rf"{_LABEL}(?:\[(?:{_INSIDE})*+)?\\?\Z")

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
OPEN_LENTICULAR = re.compile(r"【[^【】\n]{0,200}\Z")
ROUND = re.compile(r"\(([^()\n]{1,100})\)")
BARE_REFERENCE = re.compile(r"ref ?#([0-9]{1,4})(?![\w-])", re.IGNORECASE)
BETWEEN_REFERENCES = re.compile(r"[ \t]{0,8}(?:[,;][ \t]{0,8})?")

TAG = re.compile(rf"<[^<>\n]{{0,{LONGEST_TARGET}}}+>")
OPEN_TAG = re.compile(rf"<[^<>\n]{{0,{LONGEST_TARGET}}}+\Z")
READ_TAGS = frozenset({"img", "br", "sub", "sup", "/sub", "/sup"})
HOLDS_IMAGE = re.compile(r"!\[|<img", re.IGNORECASE)
TAG_NAME = re.compile(r"<(/?[A-Za-z][\w.+-]*+)")
AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+)>")
MAIL = re.compile(r"<([\w.+-]+@[\w.-]+)>")
KEPT_TAG = re.compile(r"<(?:br ?/?|/?su[bp])>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""\b(src|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)

ADDRESS = re.compile(r"""[^\s<>"`|\\^{}\[\]【】]*+""")
FOREIGN_TARGET = re.compile(r"\]\(([^)\n]*//[^)\n]*)")


def _reaching(word: str) -> str:
    """A pattern for the word, or for as much of it as the text has."""
    pattern = ""
    for char in reversed(word):
        pattern = f"(?:\\Z|{re.escape(char)}{pattern})"
    return pattern.removeprefix("(?:\\Z|").removesuffix(")")


_WORDS = "|".join(map(_reaching, ("references", "refs", "ref", "citations", "citation", "sources", "source", "and")))
OPEN_ROUND = re.compile(rf"\((?:[ \t\[\]【】#0-9,;.:&–†-]|{_WORDS})*\Z", re.IGNORECASE)
OPEN_BARE = re.compile(rf"(?:{_reaching('ref #')}|{_reaching('ref#')})[0-9]{{0,4}}\Z", re.IGNORECASE)
_WEB = f"{_reaching('https://')}|{_reaching('http://')}"
_ADDRESSES = ("www.", "api/images/", "/api/images/", "attachment:", "sandbox:", "ref #", "ref#")
_BEGINNINGS = rf"{_WEB}|(?<![A-Za-z0-9])(?:{'|'.join(map(_reaching, _ADDRESSES))})"
BEGINS_ADDRESS = re.compile(r"https?://|www\.|/?api/images/|attachment:|sandbox:", re.IGNORECASE)
SPECIAL = re.compile(
    rf"""
    [\n`\[\]【(<\\] | !(?=\[|\Z) | ~(?=~~|~?\Z)
  | [ \t]{{1,8}}(?=[\[【(!<]|\Z|{_BEGINNINGS})     # goes if what follows does
  | {_BEGINNINGS}
    """,
    re.VERBOSE | re.IGNORECASE,
)
