"""Prints two answers to one question in the terminal: side by side if it is wide, else one after the other."""

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from app.schema.answers import ChatAnswer
from app.schema.conversations import AnswerThenAndNow, Circumstance, ComparedSection, TextPiece

_WIDE = 120
"""Columns of a terminal from which two answers stand side by side, each in 60 or so."""
_STYLES = {"removed": "red strike", "added": "green", "same": "", "skipped": "dim"}
_STATES = {
    "unchanged": "unchanged",
    "changed": "changed since",
    "gone": "not available any more",
    "contradicted": "contradicted by another article",
}


def print_then_and_now(compared: AnswerThenAndNow, console: Console) -> None:
    """Print the question, both answers, the sections with their changes, and what they were made with."""
    console.print(Text(compared.question, style="bold"))
    console.print(Text(f"asked {compared.asked_at[:16].replace('T', ' ')} UTC, {compared.response_id}", style="dim"))
    console.print()
    if compared.then.answer == compared.now.answer:
        _print_column("Then and now the same", compared.now, console)
    elif console.width >= _WIDE:
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(ratio=1)
        table.add_column(ratio=1)
        table.add_row(Text("Then", style="bold"), Text("Now", style="bold"))
        table.add_row(Markdown(compared.then.answer), Markdown(compared.now.answer))
        console.print(table)
    else:
        _print_column("Then", compared.then, console)
        console.print()
        _print_column("Now", compared.now, console)
    console.print()
    if compared.difference:
        console.print(Text("How its text changed", style="bold"))
        console.print(Padding(difference_text(compared.difference), (0, 0, 1, 2)))
    for line in _sections(compared):
        console.print(line)
    for line in _circumstances(compared.circumstances):
        console.print(line)


def _print_column(heading: str, answer: ChatAnswer, console: Console) -> None:
    console.print(Rule(Text(heading, style="bold"), align="left"))
    console.print(Markdown(answer.answer))


def _sections(compared: AnswerThenAndNow) -> Iterator[RenderableType]:
    yield Text("The sections it rested on", style="bold")
    if compared.not_compared:
        yield Text(f"They could not be compared: {compared.not_compared}", style="yellow")
    if not compared.sections:
        yield Text("none", style="dim")
    for section in compared.sections:
        yield _section(section)
        if section.difference:
            yield Padding(difference_text(section.difference), (0, 0, 0, 2))


def _section(section: ComparedSection) -> Text:
    numbers = f"[{section.number_then or '-'} → {section.number_now or '-'}] "
    path = " › ".join(dict.fromkeys((section.title, *section.heading_path)))
    remarks = [
        *filter(None, [_STATES.get(section.state or "", "")]),
        *(["cited only now"] if section.number_then is None else []),
        *(["not cited now"] if section.number_now is None else []),
    ]
    return Text.assemble(numbers, (path, ""), ("  " + ", ".join(remarks) if remarks else "", "yellow"))


def difference_text(pieces: Sequence[TextPiece]) -> Text:
    """A difference in colours, and readable without them: ``[-removed-]`` and ``{+added+}``."""
    text = Text()
    for piece in pieces:
        words = piece.text.rstrip("\n")
        line_end = piece.text[len(words) :]
        match piece.change:
            case "removed":
                text.append(f"[-{words}-]", _STYLES[piece.change])
            case "added":
                text.append(f"{{+{words}+}}", _STYLES[piece.change])
            case "skipped":
                text.append("…\n", _STYLES[piece.change])
            case "same":
                text.append(words)
        text.append(line_end)
    text.rstrip()
    return text


def _circumstances(circumstances: Sequence[Circumstance]) -> Iterator[Text]:
    yield Text()
    yield Text("What the answers were made with", style="bold")
    width = max(len(each.name) for each in circumstances)
    for each in circumstances:
        name = f"{each.name:<{width}}  "
        if each.then == each.now:
            yield Text.assemble((name, "dim"), each.now or "none")
        else:
            yield Text.assemble((name, "dim"), (f"{each.then or 'none'} → {each.now or 'none'}", "yellow"))
