"""What answers by a model have in common: the conversation as messages, and what stands around each call."""

from collections.abc import Callable

from agent_framework import ChatMiddleware, Message

from app.answering.base import Answerer, Question
from app.answering.chat_client import ChatClient
from app.answering.history import FitHistory
from app.answering.model_calls import ModelCalls
from app.answering.vision import ReadImage, ShowImages
from app.grounding.citations import CitationBook
from app.principal import Principal
from app.retrieval import Retrieval
from app.settings import AppSettings

ReadImageFor = Callable[[Principal], ReadImage]


class ModelAnswerer(Answerer):
    """Answers by a model. The client is shared by all answers; everything else here is made for each anew."""

    def __init__(self, settings: AppSettings, retrieval: Retrieval, client: ChatClient, images: ReadImageFor) -> None:
        self.settings = settings
        self.retrieval = retrieval
        self.client = client
        self.images = images
        self.model = settings.chat_model
        self.sees_images = settings.vision and settings.vision_images > 0

    def around_calls(self, question: Question, book: CitationBook, calls: ModelCalls) -> list[ChatMiddleware]:
        """What stands around each model call of an answer, outermost first."""
        around: list[ChatMiddleware] = [calls, FitHistory(self.settings.history_tokens)]
        if self.sees_images:
            around.append(ShowImages(book, self.images(question.who), self.settings))
        return around

    async def close(self) -> None:
        """Give back connections."""
        await self.client.close()


def history_of(question: Question) -> list[Message]:
    """What was said before, in the framework's terms."""
    return [Message(message.role, [message.text]) for message in question.history if message.text.strip()]
