"""What one request, question or call of a tool adds to the audit log: one line, to which its parts add what they know.

The line stands in a context variable, so that what finds or opens something need not be handed it. Nothing is added
where there is none. See :mod:`kb_pipeline.store.audit` for the log, and :mod:`app.api.audit` for the routes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from app.schema.answers import ChatAnswer
from kb_pipeline.store.audit import Action, AuditLog, Outcome, Via


@dataclass
class Noted:
    """A line, until it is written."""

    action: Action
    who: str
    via: Via = "service"
    articles: dict[str, None] = field(default_factory=dict)
    about: str = ""
    text: str = ""
    outcome: Outcome | None = None
    is_written: bool = False

    def write(self, log: AuditLog, outcome: Outcome) -> None:
        """Add the line to the log, unless that was done. ``outcome``: if nothing else was noted."""
        if self.is_written:
            return
        self.is_written = True
        log.add(
            self.action,
            self.who,
            self.via,
            outcome=self.outcome or outcome,
            articles=self.articles,
            about=self.about,
            text=self.text,
        )


noted_now: ContextVar[Noted | None] = ContextVar("noted", default=None)


def note(*articles: str, about: str = "", text: str = "") -> None:
    """Add to the current line which articles it is about, what else, and in which words it was asked for."""
    if noted := noted_now.get():
        noted.articles.update(dict.fromkeys(articles))
        noted.about = about or noted.about
        noted.text = text or noted.text


def note_call(outcome: Outcome) -> None:
    """Note how a call of a tool ended, whose failure is a value, if the line is about a call and not a question."""
    if (noted := noted_now.get()) and noted.action == "tool":
        noted.outcome = noted.outcome or outcome


def note_answer(question: str, answer: ChatAnswer) -> None:
    """Add the question to the current line, and the articles that its answer was made from, or offers."""
    note(*answer.rests_on, text=question)


def write_note(log: AuditLog, outcome: Outcome) -> None:
    """Write the current line now, unless that was done: what is answered may go on after its request."""
    if noted := noted_now.get():
        noted.write(log, outcome)


@contextmanager
def recording(log: AuditLog, action: Action, who: str, via: Via, about: str = "") -> Iterator[None]:
    """A block for which a line is written when it ends; what fails in it is recorded as failed."""
    noted = Noted(action, who, via, about=about)
    token = noted_now.set(noted)
    outcome: Outcome = "failed"
    try:
        yield
        outcome = "done"
    finally:
        noted_now.reset(token)
        noted.write(log, outcome)
