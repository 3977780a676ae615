"""The steps of an investigation, and its report, for people. Pure: all texts are foreign, and stay texts."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape

from app.page.markup import Chip, answer_blocks, plain_chip
from app.page.templates import render
from app.schema.network import Investigation, InvestigationEvent
from kb_pipeline.steps.markdown_parsers import row_cells
from kb_pipeline.wording import counted

_AGENTS = {
    "Orchestrator": "Orchestrator",
    "GraphExplorerAgent": "Graph explorer",
    "TelemetryAgent": "Telemetry",
    "RunbookKBAgent": "Runbooks",
    "HistoricalTicketAgent": "Tickets",
}
_RULE = re.compile(r"[|:\- ]+")
_HARMLESS = re.compile(r"\\([_(){}#|.-])")
"""Escapes of a report that a ticket does not need: without them nothing becomes a link, an image or markup."""
_FENCES = re.compile("`{3,}")


@dataclass(frozen=True)
class TimelineStep:
    """A step for people. ``seconds`` is ``None`` while it is under way."""

    number: int
    agent: str
    status: str = ""
    seconds: float | None = None
    query: str = ""
    response: str = ""
    failed: bool = False

    @property
    def who(self) -> str:
        return _AGENTS.get(self.agent, self.agent)

    @property
    def first_line(self) -> str:
        """The beginning of the response, in place of a title."""
        return next((line.strip() for line in self.response.splitlines() if line.strip()), "")

    @property
    def can_be_asked(self) -> bool:
        """Whether it asked the telemetry in its language."""
        return self.agent == "TelemetryAgent" and self.query.lstrip()[:6].upper() == "SELECT"

    @property
    def table(self) -> tuple[tuple[str, ...], ...]:
        """The response as rows of cells, the first of which are headings; empty if it is no table."""
        lines = [line.strip() for line in self.response.strip().splitlines()]
        if len(lines) < 2 or not all(line.startswith("|") for line in lines) or not _RULE.fullmatch(lines[1]):
            return ()
        return tuple(
            tuple(cell.replace(r"\|", "|") for cell in row_cells(line)) for at, line in enumerate(lines) if at != 1
        )


def steps_of(events: Iterable[InvestigationEvent]) -> tuple[TimelineStep, ...]:
    """The steps so far, by their numbers. What an agent says that it does belongs to its step that is under way, or to
    its next one.
    """
    steps: dict[int, TimelineStep] = {}
    said: dict[str, str] = {}
    for event in events:
        data = event.data
        agent, number = str(data.get("agent", "")), data.get("step")
        if event.event == "step_thinking":
            said[agent] = str(data.get("status", ""))
            for open_step in [each for each in steps.values() if each.agent == agent and each.seconds is None]:
                steps[open_step.number] = replace(open_step, status=said.pop(agent, open_step.status))
        elif event.event == "step_start" and isinstance(number, int):
            steps[number] = TimelineStep(number, agent, said.pop(agent, ""))
        elif event.event == "step_complete" and isinstance(number, int):
            begun = steps.get(number, TimelineStep(number, agent))
            steps[number] = replace(
                begun,
                seconds=float(data.get("duration") or 0.0),
                query=str(data.get("query") or ""),
                response=str(data.get("response") or ""),
                failed=data.get("error") is True,
            )
    return tuple(steps[number] for number in sorted(steps))


def now(events: Sequence[InvestigationEvent]) -> str:
    """What goes on, in words."""
    for event in reversed(events):
        if event.event == "step_thinking":
            who = _AGENTS.get(str(event.data.get("agent")), str(event.data.get("agent")))
            return f"{who}: {event.data.get('status')}"
    return "Reading the alert"


def failure_of(events: Iterable[InvestigationEvent]) -> str:
    """Why the investigation as a whole failed; empty if it did not."""
    return next((str(event.data.get("message", "")) for event in events if event.event == "error"), "")


def numbers_of(events: Iterable[InvestigationEvent]) -> str:
    """``6 steps · 0.4 s · no language model``, once the investigation has ended."""
    ended = next((event.data for event in events if event.event == "run_complete"), None)
    if ended is None:
        return ""
    tokens = ended.get("tokens") or 0
    model = counted(int(tokens), "token") if tokens else "no language model"
    return f"{counted(int(ended.get('steps') or 0), 'step')} · {float(ended.get('time') or 0.0):.1f} s · {model}"


def text_of(events: Iterable[InvestigationEvent]) -> str:
    """The report as it arrived; empty if it did not yet."""
    return next((str(event.data.get("text", "")) for event in events if event.event == "message"), "")


def report_html(markdown: str, elements: Collection[str] = (), chip: Chip = plain_chip) -> str:
    """A report; each of these elements in it can be clicked, and is then chosen on the map."""
    blocks = answer_blocks(markdown, chip, _linking(frozenset(elements)), has_links=False)
    return f'<div class="kb-answer kb-report">{"".join(blocks)}</div>'


@lru_cache(maxsize=16)
def _linking(elements: frozenset[str]) -> Callable[[str], str]:
    longest_first = sorted(filter(None, elements), key=lambda each: (-len(each), each))
    if not longest_first:
        return escape
    # an id is no part of a longer word: R-1 is not named by R-10
    names = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, longest_first))})(?![\w-]|\.\w)")

    def words(text: str) -> str:
        pieces = names.split(text)  # every second one is a name
        return "".join(render("network", "element", each) if at % 2 else escape(each) for at, each in enumerate(pieces))

    return words


def ticket_of(investigation: Investigation) -> str:
    """An investigation as the text of a ticket: the report, what it refers to, and the alert.

    Names stand in it as they are, so that they can be searched for, but brackets of others stay escaped.
    """
    report = _HARMLESS.sub(r"\1", (investigation.report or "").strip())
    sources = [f"[Ref #{each.number}] {each.title}" for each in investigation.citations if each.used]
    alert = investigation.alert.strip()
    fence = "`" * (max((len(each) for each in _FENCES.findall(alert)), default=2) + 1)
    parts = [report, "\n".join(sources), f"## Alert\n\n{fence}\n{alert}\n{fence}" if alert else ""]
    return "\n\n".join(filter(None, parts))
