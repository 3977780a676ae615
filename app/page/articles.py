"""The list of articles."""

from html import escape

from app.page.labels import count, moment
from app.schema import ArticleList, ArticleSummary

_STATES = {
    "published": ("good", "Published", "Readers get the newest text."),
    "behind": ("warn", "Behind", "Readers get an older text, because the newest could not be published."),
    "pinned": ("warn", "Pinned", "Readers get the version that somebody chose."),
    "failed": ("bad", "Failed", "Readers get nothing, because it could not be published."),
}


def articles_html(found: ArticleList) -> str:
    """The articles of a page of the list, and how many there are."""
    rows = "".join(map(_row, found.articles))
    return f'<p class="kb-how">{count(found.total, "article")}</p><ul class="kb-articles">{rows}</ul>'


def state_html(summary: ArticleSummary) -> str:
    """What a reader gets of the article, in a word."""
    tone, word, meaning = _STATES[summary.state]
    return f'<span class="kb-state kb-{tone}" title="{meaning}">{word}</span>'


def _row(summary: ArticleSummary) -> str:
    name = escape(summary.title)
    if summary.state == "failed":
        title = f'<span class="kb-article-title">{name}</span>'
    else:
        title = (
            f'<a class="kb-article-title" href="?article={escape(summary.article_id)}" '
            f'data-kb="article:{escape(summary.article_id)}">{name}</a>'
        )
    facts = [count(summary.images, "image"), count(summary.chunks, "chunk")]
    if summary.published_at:
        facts.append(escape(moment(summary.published_at)))
    error = f'<p class="kb-article-error">{escape(summary.error)}</p>' if summary.error else ""
    return (
        f"<li><div>{title}{state_html(summary)}</div>"
        f'<p class="kb-how"><code>{escape(summary.article_id)}</code> · {" · ".join(facts)}</p>{error}</li>'
    )
