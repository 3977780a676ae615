"""For which elements of a page a CSS selector holds.

Most selectors are nothing but names and the places of elements to each other, and are answered by lists of what has
each name. Of all others, the names tell for which few elements they may hold, and soupsieve does the rest, on a copy of
the tree; by itself it takes half of a page's time. Lexbor (selectolax 1.0) takes half of ours, but finds nothing for
``:is(.a) li``, as nested rules have it. Not here: what the rules with these selectors declare (``style_sheets``).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kb_pipeline.steps.html.css_values import ESCAPE, unescaped
from kb_pipeline.steps.html.dom import Element, names

if TYPE_CHECKING:
    from bs4 import Tag

_BRACKET = re.compile(r"\\.|\"(?:\\.|[^\"\\])*+\"?|'(?:\\.|[^'\\])*+'?|[(\[\])]|,", re.S)
_STATE = re.compile(r"(?<![:\\]):[a-z-]+(?![\w(-])")
_WHERE = re.compile(r":where\([^()]*\)", re.I)
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'|\[[^\[\]]*\]")
_ESCAPED = r"\\(?:[0-9a-fA-F]{1,6}\s?|[^\n])"
_TOKEN = re.compile(
    rf"(?P<name>[.#]?(?:--|-?(?:[^\W\d]|[^\x00-\x7f]|{_ESCAPED}))(?:[\w-]|[^\x00-\x7f]|{_ESCAPED})*+)"
    r"|(?P<state>::?[\w-]+)|(?P<any>\*)|\s*(?P<combinator>[>+~])\s*|(?P<space>\s+)|(?P<bracket>\[)",
    re.S,
)
_ATTRIBUTE = re.compile(
    rf"\s*(?P<name>(?:[\w-]|{_ESCAPED})++)\s*(?:=\s*(?P<value>\"[^\"\\]+\"|'[^'\\]+'|[\w-]+)\s*)?(?P<more>.?)", re.S
)
_PLACES = names(":root :first-child :last-child")
_NOWHERE = names(
    ":hover :active :focus :focus-within :focus-visible :visited :host :before :after :first-line :first-letter"
)
"""States in which nothing is on a page that nobody uses, and parts of elements, which hold no element."""
_COST = 16
"""How many times as long soupsieve takes for an element as a look into the lists of names."""


def selectors_in(listed: str) -> Iterator[str]:
    """Yield the selectors of a list: its commas are not inside of brackets or strings."""
    depth, start = 0, 0
    for match in _BRACKET.finditer(listed):
        depth += (match[0] in ("(", "[")) - (match[0] in (")", "]"))
        if match[0] == "," and depth == 0:
            yield listed[start : match.start()].strip()
            start = match.end()
    yield listed[start:].strip()


@lru_cache(maxsize=4096)
def specificity(selector: str) -> tuple[int, int, int]:
    """Return the weight of a selector: its ids; its classes, attributes and states; its tags."""
    plain = ESCAPE.sub("e", _WHERE.sub("", selector))
    attributes = plain.count("[")
    plain = _STRING.sub("", plain)
    classes = len(re.findall(r"\.[\w-]|(?<!:):(?!is\b|not\b|has\b)[\w-]", plain))
    return plain.count("#"), attributes + classes, len(re.findall(r"(?:^|[\s>+~(])[a-z]", plain))


class _Step(NamedTuple):
    """A part of a selector between combinators; ``combinator`` is what stands before it, and says where to look.

    ``names`` has its tag, its classes with ``.``, its ids with ``#``, its attributes with ``[``, and where it stands as
    a state; ``without`` the same of what it must not be.
    """

    combinator: str = ""
    names: frozenset[str] = frozenset()
    without: frozenset[frozenset[str]] = frozenset()


class _Steps(NamedTuple):
    """The parts of a selector; it ``is_whole`` if it says nothing else."""

    steps: tuple[_Step, ...]
    is_whole: bool


_ANYTHING = _Steps((_Step(),), False)
_NOTHING = _Steps((), True)


@lru_cache(maxsize=4096)
def _steps_of(selector: str) -> _Steps:
    """Return the parts of a selector; none if it holds for nothing."""
    selector = _plain(selector)
    steps, step, is_begun, is_whole, place = list[_Step](), _Step(), False, True, 0
    while place < len(selector):
        token = _TOKEN.match(selector, place)
        is_tag = token is not None and (token["any"] or token["name"]) and token[0][0] not in ".#"
        if token is None and selector[place] in ".#":  # without a name: no browser takes it for a selector
            return _NOTHING
        if token is None or (is_tag and is_begun):
            return _ANYTHING
        place = token.end()
        if token["combinator"] or token["space"]:
            if not is_begun:
                return _ANYTHING
            steps.append(step)
            step, is_begun = _Step(token["combinator"] or " "), False
            continue
        is_begun = True
        if token["name"]:
            step = step._replace(names=step.names | {unescaped(token["name"])})
        elif token["state"] in _NOWHERE or (token["state"] or "").startswith("::"):
            return _NOTHING
        elif token["state"] in _PLACES:
            step = step._replace(names=step.names | {token["state"]})
        elif not token["any"]:
            ends = _end_of_bracket(selector, place if token["state"] else place - 1)
            inner = _in_brackets(token["state"] or "[", selector[place + bool(token["state"]) : ends - 1])
            also = inner.steps[0]
            step = step._replace(names=step.names | also.names, without=step.without | also.without)
            is_whole, place = is_whole and inner.is_whole, ends
    return _Steps((*steps, step), is_whole) if is_begun else _ANYTHING


def _plain(selector: str) -> str:
    return selector.replace(":-webkit-any-link", ":any-link").replace(":-webkit-any(", ":is(")


def _end_of_bracket(selector: str, start: int) -> int:
    """Return where the bracket ends that begins there; where none begins, nothing is in it."""
    depth = 0
    for match in _BRACKET.finditer(selector, start) if selector[start : start + 1] in ("(", "[") else ():
        depth += (match[0] in ("(", "[")) - (match[0] in (")", "]"))
        if depth == 0:
            return match.end()
    return start


def _in_brackets(state: str, inner: str) -> _Steps:
    """Return as one part what stands in brackets, after a state or as an attribute."""
    if state == "[":
        attribute = _ATTRIBUTE.match(inner)
        if attribute is None:
            return _ANYTHING
        name, value = f"[{unescaped(attribute['name'])}", (attribute["value"] or "").strip("\"'")
        # soupsieve compares types without regard to case, as browsers do
        is_whole = not attribute["more"] and not (value and name == "[type")
        return _one_step(f"{name}={value}" if value and is_whole else name, is_whole=is_whole)
    read = [_steps_of(each) for each in selectors_in(inner)] if state in (":is", ":where", ":not") and inner else []
    if not all(each.steps for each in read):
        return _ANYTHING
    own = frozenset(each.steps[-1].names for each in read)
    is_whole = all(each.is_whole and len(each.steps) == 1 and not each.steps[0].without for each in read)
    if state == ":not":
        return _one_step(without=own, is_whole=True) if is_whole and read else _ANYTHING
    return _one_step(*next(iter(own)), is_whole=is_whole) if len(own) == 1 else _ANYTHING


def _one_step(*names: str, without: frozenset[frozenset[str]] = frozenset(), is_whole: bool) -> _Steps:
    return _Steps((_Step("", frozenset(names), without),), is_whole)


class Selectors:
    """The elements of a page, found by selectors; ``cased`` gives its names the case in which they are compared.

    ``work`` is how much was looked at so far, in elements looked up in a list.
    """

    def __init__(self, page: Element, cased: Callable[[str], str]) -> None:
        self._elements = list(page.iter())
        self._cased = cased
        self._copy: _Copy | None = None
        self._named: dict[str, dict[int, None]] = {}
        self._parents: list[int] = []
        self._previous: list[int] = []
        self._found: dict[tuple[_Step, ...], list[int]] = {}
        self.work = 0
        numbers: dict[Element | None, int] = {None: -1}
        latest: dict[int, int] = {}
        for number, element in enumerate(self._elements):
            numbers[element] = number
            parent = numbers[element.getparent()]
            self._parents.append(parent)
            self._previous.append(latest.get(parent, -1))
            latest[parent] = number
            for name in self._names_of(element):
                self._named.setdefault(name, {})[number] = None
        self._ends = list(range(len(self._elements)))
        for number in reversed(range(1, len(self._elements))):
            parent = self._parents[number]
            self._ends[parent] = max(self._ends[parent], self._ends[number])
        self._named[":root"] = {0: None}
        self._named[":first-child"] = {number: None for number, before in enumerate(self._previous) if before < 0}
        self._named[":last-child"] = dict.fromkeys(sorted(latest.values()))

    def _names_of(self, element: Element) -> Iterator[str]:
        yield str(element.tag)
        for attribute, value in element.items():
            yield f"[{attribute!s}"
            if attribute == "class":
                yield from (f".{name}" for name in self._cased(str(value)).split())
            elif attribute == "id":
                yield f"#{self._cased(str(value))}"

    def may_match(self, selector: str) -> bool:
        """Return whether the page has what the selector names; the work to match it is counted."""
        steps, _ = _steps_of(selector)
        found = self._holding(steps) if steps else []
        self.work += _COST * len(found)
        return bool(found)

    def matching(self, selector: str) -> list[Element]:
        """Return the elements for which a selector holds: none if it is invalid, or one of a state or a part."""
        steps, is_whole = _steps_of(selector)
        elements = [self._elements[number] for number in (self._holding(steps) if steps else [])]
        if is_whole or not elements:
            return elements
        if self._copy is None:
            self._copy = _Copy(self._elements, self._cased)
        return self._copy.matching(selector, elements)

    def _holding(self, steps: tuple[_Step, ...]) -> list[int]:
        """Return the numbers of the elements with the names of the last step, beside such of the steps before it."""
        if (known := self._found.get(steps)) is not None:
            return known
        found = self._with_names(steps[-1])
        self.work += len(found)
        if len(steps) > 1 and found:
            found = list(self._beside(steps[-1].combinator, self._holding(steps[:-1]), found))
        self._found[steps] = found
        return found

    def _with_names(self, step: _Step) -> list[int]:
        lists = sorted(map(self._all_named, step.names), key=len) or [dict.fromkeys(range(len(self._elements)))]
        found = [number for number in lists[0] if all(number in each for each in lists[1:])]
        for names_of_one in step.without if found else ():
            excluded = [self._all_named(name) for name in names_of_one]
            found = [number for number in found if not all(number in each for each in excluded)]
        return found

    def _all_named(self, name: str) -> dict[int, None]:
        attribute, is_valued, value = name.partition("=") if name.startswith("[") else (name, "", "")
        if is_valued and name not in self._named:
            numbers = self._named.get(attribute, {})
            self._named[name] = {
                number: None
                for number in numbers
                if self._cased(str(self._elements[number].get(attribute[1:]))) == value
            }
        return self._named.get(name, {})

    def _beside(self, combinator: str, first: list[int], found: Iterable[int]) -> Iterator[int]:
        if combinator == " ":
            yield from self._inside(first, found)
        elif combinator == "~":
            earliest: dict[int, int] = {}
            for number in first:
                earliest.setdefault(self._parents[number], number)
            yield from (each for each in found if earliest.get(self._parents[each], each) < each)
        else:
            beside, these = self._parents if combinator == ">" else self._previous, set(first)
            yield from (each for each in found if beside[each] in these)

    def _inside(self, around: list[int], found: Iterable[int]) -> Iterator[int]:
        """Yield those that are in one of the elements around; both are in the order of the page."""
        covered, waiting = -1, iter(around)
        following = next(waiting, None)
        for number in found:
            while following is not None and following < number:
                covered = max(covered, self._ends[following])
                following = next(waiting, None)
            if number <= covered:
                yield number


class _Copy:
    """A copy of a tree for soupsieve; ``cased`` gives its names and values the case in which they are compared."""

    def __init__(self, elements: list[Element], cased: Callable[[str], str]) -> None:
        from bs4 import BeautifulSoup

        self._soup = BeautifulSoup("", "html.parser")
        self._elements: dict[int, Element] = {}
        self._copies: dict[Element, Tag] = {}
        for element in elements:
            attributes = {str(name): cased(str(value)) for name, value in element.attrib.items()}
            copy = self._soup.new_tag(str(element.tag), attrs=attributes)
            parent = element.getparent()
            (self._soup if parent is None else self._copies[parent]).append(copy)
            if (element.text or "").strip():
                copy.append("text")
            self._copies[element], self._elements[id(copy)] = copy, element

    def matching(self, selector: str, candidates: list[Element]) -> list[Element]:
        """Return those of the elements for which a selector holds."""
        import soupsieve

        try:
            compiled = soupsieve.compile(_STATE.sub(lambda state: _known_state(state[0]), _plain(selector)))
        except (soupsieve.SelectorSyntaxError, NotImplementedError):  # browsers ignore it; or it is a part, as ::before
            return []
        # one walk over the tree costs less than so many matches
        is_walk = len(candidates) * 3 > len(self._copies)
        copies = [self._copies[element] for element in candidates]
        found = compiled.select(self._soup) if is_walk else compiled.filter(copies)
        return [self._elements[id(copy)] for copy in found]


@lru_cache(maxsize=256)
def _known_state(state: str) -> str:
    """Return a state that soupsieve can read: nothing is in one that it cannot, either."""
    import soupsieve

    try:
        soupsieve.compile(state)
    except soupsieve.SelectorSyntaxError:
        return ":hover"
    return state
