"""How the knowledge base is used and what its answers cost, as an asset with a history."""

import dagster as dg

from kb_pipeline.application import open_application
from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.events import table
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.evaluation.usage import WEEKS

_SHOWN = 100
"""Articles that a table lists: Dagster shows it in one piece."""


@dg.asset(
    description=f"What readers asked in the last {WEEKS} weeks, what became of it, and what it cost: counts by week, "
    "day and topic, and the articles that no answer used. The numbers are those of the last seven days. It holds no "
    "word of a person. The page *Usage* and `kb usage` show the same.",
    kinds={"table"},
    group_name="quality",
    owners=OWNERS,
    deps=["index_state"],
)
def usage(kb: KnowledgeBase) -> dg.MaterializeResult[None]:
    """Count what became of the questions of the conversations."""
    report = open_application(kb.settings()).usage()
    last = report.last_week
    tables = {
        "weeks": report.rows_of(report.weeks),
        "by_day": report.rows_of(report.days),
        "topics": report.topic_rows(),
        "unused": report.unused_rows()[:_SHOWN],
    }
    return dg.MaterializeResult(
        metadata={
            "in_words": dg.MetadataValue.md(" ".join(report.in_words())),
            **last.model_dump(exclude_none=True),
            **({} if last.answered_share is None else {"answered_share": round(last.answered_share, 3)}),
            "articles": report.articles,
            "unused_articles": len(report.unused),
            **{name: table(rows) for name, rows in tables.items() if rows},
        }
    )
