"""A known question as HTML: what was expected, what was found or answered, before and after."""

from collections.abc import Iterator
from html import escape

from app.page.labels import count
from app.page.markup import answer_blocks
from app.page.quality_scores import PARAPHRASE, group_name, signed
from app.schema import EvaluatedAnswer, EvaluatedQuestion, FoundPassage, QualityChange, QualityComparison, QualityScore

_TONES = {"lost": "bad", "won": "good", "changed": "warn"}


def differences_html(compared: QualityComparison) -> str:
    """How much each measure differs, with its interval; marked where that is more than chance."""
    chips = "".join(_difference(name, score) for name, score in compared.differences.items())
    return (
        f'<ul class="kb-differences">{chips}</ul>'
        f'<p class="kb-how">Later minus earlier, over the {count(compared.questions, "question")} that both asked, in '
        f"all wordings, with 95 % intervals; coloured where they leave out 0.</p>"
    )


def _difference(name: str, score: QualityScore) -> str:
    tone = "good" if score.low > 0 else "bad" if score.high < 0 else "same"
    return (
        f'<li class="kb-{tone}">{escape(name)} <b>{signed(score.value)}</b>'
        f"<i>{signed(score.low)} to {signed(score.high)}</i></li>"
    )


def change_html(change: QualityChange) -> str:
    """A question that came out otherwise; it unfolds to both outcomes."""
    badge = f'<span class="kb-state kb-{_TONES[change.fate]}">{change.fate.capitalize()}</span>'
    outcomes = f"{_outcome(change.before, 'Before')}{_outcome(change.after, 'After')}"
    return _card(change.after, badge, f'<div class="kb-both">{outcomes}</div>')


def question_html(question: EvaluatedQuestion) -> str:
    """A question of one run; it unfolds to what came of it."""
    badge = '<span class="kb-state kb-bad">Missed</span>' if question.missed else ""
    return _card(question, badge, _outcome(question, "Outcome"))


def _card(question: EvaluatedQuestion, badge: str, outcomes: str) -> str:
    kind = f"{group_name(PARAPHRASE)} · {question.kind}" if question.paraphrase else question.kind
    return (
        f'<details class="kb-card kb-known"><summary><span>{escape(question.asked)}</span>'
        f"<i>{escape(kind)}</i>{badge}</summary>{_expected(question)}{outcomes}</details>"
    )


def _expected(question: EvaluatedQuestion) -> str:
    """What would have been right."""
    if question.article_id is None:
        return '<p class="kb-expected">Expected: a refusal, for no article answers this.</p>'
    section = f" › {escape(question.section)}" if question.section else ""
    span = f"<blockquote>{escape(question.answer_span)}</blockquote>" if question.answer_span else ""
    image = f" · screenshot <code>{escape(question.image)}</code>" if question.image else ""
    title = question.title or question.article_id
    return f'<p class="kb-expected">Expected: {_article(question.article_id, title)}{section}{image}</p>{span}'


def _article(article_id: str, title: str) -> str:
    shown = escape(article_id)
    return f'<a href="knowledge-base?article={shown}" data-kb="article:{shown}">{escape(title)}</a>'


def _outcome(question: EvaluatedQuestion, name: str) -> str:
    answer = _answered(question.answer) if question.answer else ""
    heading = "Referred to" if question.answer else "Found"
    found = "".join(map(_found, question.found))
    places = f"<h5>{heading}</h5><ol>{found}</ol>" if found else f'<p class="kb-none">{heading}: nothing</p>'
    return (
        f'<section class="kb-outcome"><h4>{name}</h4><p class="kb-how">{" · ".join(_places(question))}</p>'
        f"{answer}{places}</section>"
    )


def _places(question: EvaluatedQuestion) -> Iterator[str]:
    """Where the right things stood."""
    if question.answer and question.answer.refused:
        yield "refused"
    if question.article_id is not None:
        yield f"article {_place(question.article_rank)}"
        if question.answer is None and question.answer_span:
            yield f"its words {_place(question.span_rank)}"
        if question.answer is None and question.image:
            yield f"screenshot {_place(question.image_rank)}"
    if question.confidence is not None:
        yield f"confidence {question.confidence:.2f}"
    if question.missed:
        yield f"missed: {escape(', '.join(question.missed))}"


def _place(rank: int | None) -> str:
    return f"at place {rank}" if rank else "not found"


def _found(passage: FoundPassage) -> str:
    mark = ' class="kb-right"' if passage.right else ""
    return f"<li{mark}>{_article(passage.article_id, passage.title)}</li>"


def _answered(answer: EvaluatedAnswer) -> str:
    parts = [f'<p class="kb-article-error">{escape(answer.failure)}</p>'] if answer.failure else []
    if answer.text:
        parts.append(f'<div class="kb-answer">{"".join(answer_blocks(answer.text))}</div>')
    if answer.unsupported:
        said = "".join(f"<li>{escape(claim)}</li>" for claim in answer.unsupported)
        parts.append(f'<h5>Said without support</h5><ul class="kb-unsupported">{said}</ul>')
    if answer.grounded is not None:
        parts.append(f'<p class="kb-how">Grounded {answer.grounded:.2f}: {escape(answer.reason)}</p>')
    return "".join(parts)
