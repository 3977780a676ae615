"""One answer as somebody else sees it who opens its link: what they may read of it, and nothing else of its asker."""

from collections.abc import Sequence

from app.callers.principal import Principal
from app.library.articles import Articles
from app.library.withheld import PARTLY_WITHHELD, WITHHELD, readable_part, shown_turns
from app.schema.conversations import Turn

_WITHHELD = "this answer uses articles that you may not read, so it is not shown"


def shared_turn(articles: Articles, turns: Sequence[Turn], share_id: str, who: Principal) -> Turn:
    """The last of these turns as this person may see it now; ``turns`` are those of its conversation up to it.

    Earlier turns are never shown, but decide with the others: what a model said after an answer that this person may
    not read is withheld. Of quotations, those that they may not read are left out.

    Raises:
        StorageError: an access list cannot be read.
    """
    stored, turn = turns[-1], shown_turns(articles, turns, who)[-1]
    if stored.answer and turn.answer is None and (part := readable_part(articles, stored.answer, who)):
        turn = turn.model_copy(update={"answer": part, "problem": PARTLY_WITHHELD})
    elif turn.problem == WITHHELD:
        turn = turn.model_copy(update={"problem": _WITHHELD})
    # queries and earlier questions tell of the rest of the conversation, and passages that are not cited of nothing
    answer = turn.answer and turn.answer.model_copy(
        update={
            "citations": tuple(each for each in turn.answer.citations if each.used),
            "searches": (),
            "continues": (),
            "usage": None,
        }
    )
    return Turn(
        response_id=share_id, asked_at=turn.asked_at, question=turn.question, answer=answer, problem=turn.problem
    )
