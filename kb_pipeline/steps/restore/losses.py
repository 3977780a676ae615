"""What a service's markdown had lost, in words for the article's warnings: what was found again, and what was not."""

from dataclasses import dataclass

from kb_pipeline.steps.checks.results import number, short, some
from kb_pipeline.steps.html.dom import HEADINGS, text_of
from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.words import Reading

_WORTH_A_WARNING = 0.02
_AT_LEAST = 5
_SHOWN = 12


@dataclass(slots=True)
class Losses:
    """Counts and names of what did not come back from the service as it went there."""

    altered_markers: int = 0
    lost_markers: int = 0
    unplaced_images: tuple[str, ...] = ()
    unplaced_links: tuple[str, ...] = ()
    code_blocks: int = 0
    words: tuple[str, ...] = ()

    def warnings(self, converter: str) -> tuple[str, ...]:
        """A sentence for each kind of loss."""
        found = [
            *([f"{number(self.altered_markers, 'altered marker')} recognised"] if self.altered_markers else ()),
            *([f"{number(self.lost_markers, 'lost image')} put back after the same text"] if self.lost_markers else ()),
        ]
        lost = [f"{converter} altered the places of images: {', '.join(found)}"] if found else []
        for noun, items in (("image", self.unplaced_images), ("link", self.unplaced_links)):
            if items:
                lost.append(f"{number(len(items), noun)} without a place put at the end of the section: {some(items)}")
        if self.code_blocks:
            lost.append(f"{number(self.code_blocks, 'code block')} not found again, and not in the article's own words")
        return (*lost, *self.words)


def lost_words(truth: Reading, alignment: Alignment) -> tuple[str, ...]:
    """A warning if many words of the article are not in what the service wrote: how many, and the longest run."""
    lost = [n for n, word in enumerate(truth.words) if not word.is_mark and n not in alignment.places]
    if len(lost) < max(_AT_LEAST, _WORTH_A_WARNING * len(truth.words)):
        return ()
    start = best = length = 0
    for place, word in enumerate(lost):
        start = place if not place or lost[place - 1] != word - 1 else start
        if place - start + 1 > length:
            best, length = lost[start], place - start + 1
    words = " ".join(truth.text(word) for word in range(best, best + min(length, _SHOWN)))
    heading = next((span for span in reversed(truth.of(*HEADINGS)) if span.first <= best), None)
    below = f" below {short(text_of(heading.element))!r}" if heading else ""
    share = f"{len(lost):,} of {len(truth.words):,} words"
    return (f"{share} of index.html were not found in the result, most in a row{below}: {short(words)!r}",)
