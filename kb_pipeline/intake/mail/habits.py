"""What people write in most of their messages, whatever these are about: the lines that close and sign them."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from kb_pipeline.errors import IntakeError, UnreadableArticleError
from kb_pipeline.intake.mail.folder import Letter
from kb_pipeline.intake.mail.threads import Thread
from kb_pipeline.sources.mail.message import read_mail
from kb_pipeline.sources.mail.text import Lines, PlainBody, RichBody, words_of

_SAMPLE = 8
"""Threads of a sender that are compared; only their heads are known before."""
_FEWEST = 3
"""Other threads that show a habit: an answer may be given twice."""
_MOST = 2 / 3
"""Share of them that have a line which is a habit: answers that are sent again and again are in fewer. On 30 threads of
seven people, whose signatures have one to nine lines, the answers to 32 questions quote nothing of these."""


class Habits:
    """The habits of all who wrote in some threads."""

    def __init__(self, threads: Iterable[Thread], largest: int) -> None:
        self._letters: dict[str, dict[str, Letter]] = defaultdict(dict)
        self._read: dict[str, dict[str, Lines]] = {}
        for thread in threads:
            for letter in thread.letters:
                sample = self._letters[letter.sender]
                if letter.size <= largest and len(sample) <= _SAMPLE:
                    sample.setdefault(thread.id, letter)

    def of(self, sender: str, thread: Thread) -> Lines:
        """The lines, as words, that this sender writes in most other threads."""
        if sender not in self._read:
            self._read[sender] = {name: _lines(letter) for name, letter in self._letters[sender].items()}
        others = [lines for name, lines in self._read[sender].items() if name != thread.id][:_SAMPLE]
        if len(others) < _FEWEST:
            return frozenset()
        counts = Counter(line for lines in others for line in lines)
        return frozenset(line for line, count in counts.items() if count >= _MOST * len(others))


def _lines(letter: Letter) -> Lines:
    try:
        bodies = read_mail(letter.read()).bodies
    except (IntakeError, UnreadableArticleError):  # fetching its own thread says what is wrong
        return frozenset()
    return frozenset(
        words
        for is_html, text in bodies
        for block in (RichBody(text) if is_html else PlainBody(text)).blocks
        if not block.is_marked
        for line in block.lines
        if (words := tuple(words_of(line)))
    )
