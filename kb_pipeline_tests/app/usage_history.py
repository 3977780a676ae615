"""A quarter of a year of questions, as a service keeps them."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.conversations.entries import Entry
from app.conversations.sqlite import SQLiteConversations
from app.schema.answers import ChatAnswer, TokenUsage
from app.schema.conversations import Feedback, Turn
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.grounding.passages import citation

EVERY_HOURS = 5
_FATES = ({}, {}, {"is_closest": True}, {}, {"refused": True}, {}, {})


def write_usage(settings: Settings, cited: str = "layers") -> None:
    """Keep a question every five hours, with what became of it; every ninth was rated."""

    async def keep() -> None:
        store = SQLiteConversations(Path(settings.home) / "conversations.db")
        now = datetime.now(UTC)
        for number in range(90 * 24 // EVERY_HOURS):
            at = (now - timedelta(hours=EVERY_HOURS * number)).isoformat(timespec="microseconds")
            used = citation("Choose Crop to Content.", article_id=cited).model_copy(update={"used": True})
            said = ChatAnswer(
                answer="So.",
                citations=(used,),
                answered_by="agent",
                model="big",
                usage=TokenUsage(input_tokens=900, output_tokens=100),
            ).model_copy(update=_FATES[number % len(_FATES)])
            turn = Turn(response_id=f"r{number}", asked_at=at, question="How do I crop a layer?", answer=said)
            body = turn.model_dump_json(exclude={"feedback", "stale"})
            entries = [Entry(kind, f"r{number}", f"r{number}", body, at) for kind in ("question", "answer")]
            await store.append("ann", "c1", entries, title="Layers")
            if number % 9 == 0:
                rating = Feedback(rating="down" if number % 4 == 0 else "up")
                await store.give_feedback("ann", f"r{number}", rating)
        await store.close()

    asyncio.run(keep())
