"""Every image where the article shows it, as often as it does: found markers are confirmed, lost ones put back.

Not here: reading what a service wrote for a marker (``recognise``), finding a place for a lost one (``lost_markers``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.edits import Edits
from kb_pipeline.steps.restore.recognise import Marks
from kb_pipeline.steps.restore.words import Reading


def confirm_markers(
    truth: Reading, reading: Reading, alignment: Alignment, marks: Marks, edits: Edits
) -> tuple[dict[int, int], list[int]]:
    """Decide for each marker of the service which of the article's it is; what is none becomes text or nothing.

    Returns the markers that are found, by their number among the words of the article, and those that are lost.
    """
    files = {number: marks.files[truth.text(number)] for number, word in enumerate(truth.words) if word.is_mark}
    names = {number: marks.names_of(reading.text(number)) for number, word in enumerate(reading.words) if word.is_mark}
    found = {place: alignment.places[place].first for place in files if place in alignment.places}
    for decide in (_by_place, _by_name):
        taken = set(found.values())
        left = {number: meant for number, meant in names.items() if number not in taken}
        missing = {place: file for place, file in files.items() if place not in found}
        for number, place in decide(alignment, left, missing):
            found[place] = number
            _write(reading, number, marks.add(files[place]), edits)
    taken = set(found.values())
    for number in names:
        if number not in taken:
            _write(reading, number, marks.written[reading.text(number)] if marks.literal else "", edits)
    return found, [place for place in files if place not in found]


def _by_place(
    alignment: Alignment, left: Mapping[int, Sequence[str]], missing: Mapping[int, str]
) -> Iterator[tuple[int, int]]:
    """Markers with one missing one between the words around them that has one of their names."""
    known, places = sorted(alignment.sources), sorted(missing)
    for number, names in left.items():
        at = bisect_left(known, number)
        low = alignment.sources[known[at - 1]] if at else -1
        high = alignment.sources[known[at]] if at < len(known) else places[-1] + 1 if places else 0
        here = places[bisect_right(places, low) : bisect_left(places, high)]
        fitting = [place for place in here if missing[place] in names]
        if len(fitting) == 1:
            places.remove(fitting[0])
            yield number, fitting[0]


def _by_name(_: Alignment, left: Mapping[int, Sequence[str]], missing: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Markers that are read for certain and stand elsewhere than in the article: the service moved its text."""
    places: dict[str, list[int]] = {}
    for place, file in sorted(missing.items(), reverse=True):
        places.setdefault(file, []).append(place)
    for number, names in left.items():
        if len(names) == 1 and places.get(names[0]):
            yield number, places[names[0]].pop()


def _write(reading: Reading, number: int, text: str, edits: Edits) -> None:
    word = reading.words[number]
    edits.replace(word.spot, word.start, word.end, text)
