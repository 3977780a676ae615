"""Answers questions from passages: by quoting them, or by a model. Each way has a file of its own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.answering.base import Answerer
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.settings import AppSettings
from app.tools import AnyTool, open_tools
from app.tools.base import ToolServices

if TYPE_CHECKING:
    from app.web.lookup import WebLookup


def open_answerer(
    settings: AppSettings,
    retrieval: Retrieval,
    articles: Articles,
    web: "WebLookup | None" = None,
    tools: Mapping[str, AnyTool] | None = None,
) -> Answerer:
    """The answerer that the settings select, which may search ``web``, if there is one, and call ``tools``.

    The model's packages are imported only if it uses a model.
    """
    from app.answering.planning.answerer import PlannedAnswerer

    answerer = _open_answerer(settings, retrieval, articles, web, tools)
    return answerer if settings.planning == "off" else PlannedAnswerer(answerer, retrieval)


def _open_answerer(
    settings: AppSettings,
    retrieval: Retrieval,
    articles: Articles,
    web: "WebLookup | None",
    tools: Mapping[str, AnyTool] | None,
) -> Answerer:
    from app.answering.extractive.answerer import ExtractiveAnswerer

    if settings.mode == "extractive":
        return ExtractiveAnswerer(retrieval, articles, web=web)
    from app.answering.agent import AgentAnswerer
    from app.answering.retrieve_first import RetrieveFirstAnswerer
    from app.answering.vision import image_reader
    from app.judging import open_judge
    from app.model.client import ChatClient

    if tools is None:
        tools = open_tools(ToolServices(retrieval, record_content=settings.record_content), settings.tools)
    kind = AgentAnswerer if settings.mode == "agent" else RetrieveFirstAnswerer
    instead = ExtractiveAnswerer(retrieval, articles, "quoted_as_model_is_away", web)
    images = image_reader(retrieval.workspace.layout)
    client = ChatClient(settings)
    return kind(settings, retrieval, client, images, instead, web, tools, open_judge(settings, client))
