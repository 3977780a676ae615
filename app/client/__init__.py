"""The agent service for programs in Python: typed messages in, typed messages out, failures that say what to do.

Nothing here knows of a page.
"""

from app.client.answers import AnswerStream, Searching
from app.client.problems import ServiceDownError, ServiceError
from app.client.service import Client, ConversationPage, ImageFile

__all__ = [
    "AnswerStream",
    "Client",
    "ConversationPage",
    "ImageFile",
    "Searching",
    "ServiceDownError",
    "ServiceError",
]
