"""The agent service and the chat page. They read the index and the serving layer and do not use Dagster.

    question -> library -> answering -> grounding -> answer with citations and images

``library`` finds passages that the caller may see. ``answering`` writes an answer from them, by quotation or with a
model. ``grounding`` removes references and images that do not belong to those passages. ``api`` serves answers over
HTTP, ``conversations`` stores them, ``client`` is the Python client of the service, ``page`` is the chat page.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.application.in_python import DocumentsAgent


def documents_agent(*arguments: Any, **named: Any) -> "DocumentsAgent":
    """Open the agent in this program: see :func:`app.application.in_python.open_agent`, which takes these arguments."""
    from app.application.in_python import open_agent

    return open_agent(*arguments, **named)
