"""A preview as text for people: tables for the terminal, Markdown for a file and the Dagster UI. Pure.

The report holds the text of articles whoever may read them, so it is for operators only.
"""

from collections.abc import Iterator, Mapping

from kb_pipeline.evaluation.tables import change_rows, difference_rows
from kb_pipeline.upkeep.estimate import Estimate
from kb_pipeline.upkeep.preview import PreviewedArticle, PreviewedScores, SectionSizes, SettingsPreview
from kb_pipeline.wording import counted

_LONGEST_DIFF = 30
"""Lines of each diff in the Markdown report, unless it is to be whole."""

Rows = list[dict[str, str]]


def article_rows(found: SettingsPreview) -> Rows:
    """A row for each article of the sample, with its sections before and after; their sizes are in characters."""
    return [
        {
            "article": one.article_id,
            "lines": _changed_lines(one),
            "sections": _moved(one.before and one.before.count, one.after and one.after.count),
            "median size": _moved(one.before and one.before.middle, one.after and one.after.middle),
            "largest": _moved(one.before and one.before.longest, one.after and one.after.longest),
            "described": str(one.described),
            "embedded": str(one.embedded),
            "made anew": "fails" if one.failure else f"from {one.made[0]}" if one.made else "nothing",
        }
        for one in found.articles
    ]


def summary_lines(found: SettingsPreview) -> Iterator[str]:
    """What the change does to the sample, in a few sentences."""
    good = [one for one in found.articles if not one.failure]
    yield (
        f"{counted(len(found.articles), 'article')} built beside the live ones: {sum(bool(one.diff) for one in good)} "
        f"with another text, {len(found.articles) - len(good)} fail"
    )
    both = [(one.before, one.after) for one in good if one.before and one.after]
    yield (
        f"{counted(sum(one.count for one, _ in both), 'section')} before, {sum(one.count for _, one in both):,} after; "
        f"{counted(sum(one.described for one in good), 'image')} described and "
        f"{counted(sum(one.embedded for one in good), 'text')} embedded anew"
    )
    costs = [used.cost for usage in found.spent.values() for used in usage]
    known_costs = [cost for cost in costs if cost is not None]
    yield f"the preview cost {sum(known_costs):.4f}" + (
        "" if len(known_costs) == len(costs) else " and what has no price (KB_PRICES)"
    )


def work_rows(found: SettingsPreview) -> Rows:
    """What the next ingest of all articles would do: without the change, and with it."""
    sides = _work(found.waiting), _work(found.full)
    return [
        {"in all articles": name, "without": sides[0][name], "with the change": sides[1][name]} for name in sides[0]
    ]


def _work(expected: Estimate) -> Mapping[str, str]:
    seconds = [use.seconds for use in expected.models]
    is_upper = any(not source.startswith("its chunks that") for source in expected.texts_from)
    return {
        "articles to ingest": str(expected.articles),
        **{f"{layer} made at most": str(count) for layer, count in expected.layers.items()},
        "images to describe": f"{expected.images_are} {expected.images:,}" if expected.images else "0",
        "texts to embed": f"{'at most or about ' if is_upper else ''}{expected.texts:,}",
        "seconds of one process": "unknown" if None in seconds else f"{sum(s for s in seconds if s is not None):.0f}",
        "cost": "unknown" if expected.cost is None else f"{expected.cost:.4f}",
    }


def why_unknown(found: SettingsPreview) -> list[str]:
    """Why time or cost of the full run is not known."""
    return list(dict.fromkeys(use.unknown for use in found.full.models if use.unknown))


def score_rows(scores: PreviewedScores) -> Rows:
    """A row for each measure, over all questions in their original words."""
    differences = {row["measure"]: row for row in difference_rows(scores.comparison)}
    return [
        {
            "measure": name,
            "before": f"{groups['all'].value:.2f}",
            "after": f"{scores.after[name]['all'].value:.2f}",
            "difference, all wordings": differences[name]["difference"] if name in differences else "",
            "95 % interval": differences[name]["95 % interval"] if name in differences else "",
        }
        for name, groups in scores.before.items()
        if "all" in groups and "all" in scores.after.get(name, {})
    ]


def fate_rows(scores: PreviewedScores) -> Rows:
    """The questions that are lost and won, lost ones first."""
    return [{"fate": fate, **row} for fate in ("lost", "won") for row in change_rows(scores.comparison.of(fate))]


def markdown(found: SettingsPreview, *, whole: bool = False) -> str:
    """The whole report; long diffs are shortened unless ``whole``."""
    changes = ", ".join(f"`{name}={value}`" for name, value in found.changes.items()) or "no change of settings"
    parts = [f"# Preview: {changes}", *summary_lines(found), _table(article_rows(found))]
    parts += [f"**{one.article_id} would fail:** {one.failure}" for one in found.articles if one.failure]
    parts += ["## The full run", _table(work_rows(found)), *why_unknown(found)]
    parts.append("## Known questions")
    if found.scores:
        parts += [
            f"{counted(found.scores.questions, 'question')}, asked of the sample alone.",
            _table(score_rows(found.scores)),
        ]
        parts.append(_table(fate_rows(found.scores)) or "No question is lost or won.")
    else:
        parts.append(found.no_scores)
    for one in found.articles:
        if one.diff:
            parts += [f"## {one.article_id}", f"````diff\n{one.diff if whole else short_diff(one)}````"]
    return "\n\n".join(part for part in parts if part) + "\n"


def short_diff(one: PreviewedArticle) -> str:
    """The first lines of the article's diff, and how many there are more."""
    lines = one.diff.splitlines(keepends=True)
    more = len(lines) - _LONGEST_DIFF
    return "".join(lines[:_LONGEST_DIFF]) + (f"… {more} more lines\n" if more > 0 else "")


def _changed_lines(one: PreviewedArticle) -> str:
    lines = one.diff.splitlines()[2:]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{added} -{removed}" if one.diff else "same"


def _moved(before: int | SectionSizes | None, after: int | SectionSizes | None) -> str:
    old, new = ("-" if value is None else f"{value:,}" for value in (before, after))
    return old if old == new else f"{old} → {new}"


def _table(rows: Rows) -> str:
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([row[name] for name in names] for row in rows)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )
