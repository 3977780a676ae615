"""A conversation as a Markdown file, to be sent to others or filed: questions, answers, and what these rest on."""

import re
from collections.abc import Iterator

from app.grounding.citations import IMAGE_ROUTE
from app.grounding.clarification import asked_back_in_markdown
from app.grounding.references import find_references
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, Turn
from app.schema.passages import Citation
from kb_pipeline.wording import counted

_SPECIAL = re.compile(r"([\\`*_<>\[\]#|~])")


def markdown_of(conversation: Conversation, service: str) -> str:
    """The conversation as Markdown. ``service`` is the address of the service, which serves the images to whoever may
    see them.

    References are the numbers of the list of sources below their answer. Each source names its article, chunk, run and
    content hash, so that what it rests on can be traced.
    """
    blocks = [
        f"# {_literal(conversation.title)}",
        f"*{counted(len(conversation.turns), 'question')}, last continued on {conversation.updated_at[:10]}*",
    ]
    for turn in conversation.turns:
        blocks += [f"## {_literal(turn.question)}", *_picture(turn), *_answer(turn, service)]
    return "\n\n".join(blocks) + "\n"


def _picture(turn: Turn) -> Iterator[str]:
    if turn.picture:
        read = f": “{_literal(turn.picture.text)}”" if turn.picture.text else ""
        yield f"*With a picture{read}*"


def _answer(turn: Turn, service: str) -> Iterator[str]:
    if turn.answer:
        yield _with_short_references(turn.answer).replace(f"]({IMAGE_ROUTE}", f"]({service.rstrip('/')}{IMAGE_ROUTE}")
        if sources := [_source(citation) for citation in turn.answer.citations if citation.used]:
            yield "**Sources**\n\n" + "\n".join(sources)
    if turn.problem or not turn.answer:
        yield f"*{_literal(turn.problem or 'There is no answer.')}*"


def _with_short_references(answer: ChatAnswer) -> str:
    """The text, with ``[3]`` for ``[Ref #3]``; what was asked back with its titles escaped."""
    if answer.clarification:
        return asked_back_in_markdown(answer.clarification)
    parts: list[str] = []
    done = 0
    for start, end, number in find_references(answer.answer):
        parts += [answer.answer[done:start], f"[{number}]"]
        done = end
    return "".join([*parts, answer.answer[done:]]).strip()


def _source(citation: Citation) -> str:
    path = " › ".join(dict.fromkeys([citation.title, *citation.heading_path]))
    name = _literal(path)
    if citation.source_url:
        name = f"[{name}](<{citation.source_url}>)"
    if citation.is_of_web:
        return f"{citation.number}. {name}, on the web, read at {citation.fetched}"
    pages = f", {citation.pages_in_words}" if citation.pages_in_words else ""
    made = f"chunk `{citation.chunk_id}`, run `{citation.origin.run_id}`, hash `{citation.origin.content_hash[:12]}`"
    return f"{citation.number}. {name}{_literal(pages)}  \n   `{citation.article_id}`, {made}"


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
