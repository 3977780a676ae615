"""What readers asked and the knowledge base did not answer, as an asset with a history."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import dagster as dg

from kb_pipeline.application import open_application
from kb_pipeline.defs.control_room import OWNERS
from kb_pipeline.defs.events import table
from kb_pipeline.defs.resources import KnowledgeBase, now
from kb_pipeline.defs.usage import usage
from kb_pipeline.evaluation.gap_decisions import load_decisions, look_for_gaps
from kb_pipeline.evaluation.gaps import DAYS

_SHOWN = 100
"""Gaps that a table lists: Dagster shows it in one piece."""


@dg.asset(
    description=f"What readers asked in the last {DAYS} days and was not answered: refused, answered with what is "
    "close only, or disliked. Like questions stand together, most asked first, with the article nearest to them. The "
    "page *Gaps* shows them, the page of an article those nearest to it and in how many answers it is cited. Without "
    "KB_RECORD_CONTENT it holds no word of a question. How answers were used is counted as well (page *Quality*).",
    kinds={"table"},
    group_name="quality",
    owners=OWNERS,
    deps=["index_state"],
)
def unanswered_questions(kb: KnowledgeBase) -> dg.MaterializeResult[None]:
    """Group the questions of the conversations that were not answered, and record the groups."""
    settings = kb.settings()
    application = open_application(settings)
    since = (datetime.now(UTC) - timedelta(days=DAYS)).isoformat(timespec="seconds")
    questions = application.asked(since)
    gaps = look_for_gaps(
        kb.workspace(),
        questions,
        now(),
        records_content=application.records_content,
        keeps_whole=application.keeps_whole_questions,
    )
    decisions = load_decisions(settings)
    dismissed = sum(gap.id in decisions and decisions[gap.id].dismisses(gap) for gap in gaps.gaps)
    reasons = Counter(each.reason for each in questions.unanswered)
    return dg.MaterializeResult(
        metadata={
            "questions": gaps.questions,
            "gaps": len(gaps.gaps),
            "dismissed": dismissed,
            "refused": reasons["refused"],
            "closest": reasons["closest"],
            "disliked": reasons["disliked"],
            "cited_articles": len(gaps.cited),
            **({"use_of_answers": table(gaps.use.rows())} if gaps.use.rows() else {}),
            "since": since,
            **({"most_asked": table(gaps.rows()[:_SHOWN])} if gaps.gaps else {}),
        }
    )


find_knowledge_gaps = dg.define_asset_job(
    "find_knowledge_gaps",
    selection=[unanswered_questions, usage],
    description="Group what readers asked and was not answered, and count how the knowledge base is used. "
    "It costs nothing unless a service embeds questions.",
)
