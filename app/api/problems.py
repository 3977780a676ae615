"""Errors as HTTP responses: a status, a code for programs, and a message that says what happened and what to do."""

import logging
import math
from collections.abc import Mapping
from functools import partial

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from app.answering.chosen_model import NotAnAdministratorError
from app.contributing.contributing import NotAnUploaderError, NotAReviewerError, OwnContributionError
from app.errors import AnswerError, as_answer_error, without_places
from app.library.articles import ArticleNotFoundError
from app.library.quality import RunNotFoundError
from app.network.networks import NetworkNotFoundError
from app.network.running import InvestigationNotFoundError
from kb_pipeline.errors import (
    ContributionDecidedError,
    ContributionError,
    ContributionNotFoundError,
    GapNotFoundError,
    KnowledgeBaseError,
)

_log = logging.getLogger(__name__)
UNEXPECTED = "something went wrong; the service's log has the details at the time of this response"


def problem(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error as a response. OpenAI's clients read ``type``."""
    return JSONResponse({"error": {"code": code, "message": message, "type": code}}, status, headers)


def answer_problem(error: AnswerError) -> JSONResponse:
    """The response for a question that could not be answered."""
    headers = {"Retry-After": str(math.ceil(error.retry_after))} if error.retry_after is not None else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return problem(error.status, error.code, str(error), headers)


_TOLD: Mapping[type[KnowledgeBaseError], tuple[int, str]] = {
    ArticleNotFoundError: (404, "not_found"),
    RunNotFoundError: (404, "not_found"),
    ContributionNotFoundError: (404, "not_found"),
    GapNotFoundError: (404, "not_found"),
    InvestigationNotFoundError: (404, "not_found"),
    NetworkNotFoundError: (404, "not_found"),
    OwnContributionError: (403, "own_contribution"),
    NotAReviewerError: (403, "not_a_reviewer"),
    NotAnUploaderError: (403, "not_an_uploader"),
    NotAnAdministratorError: (403, "not_an_administrator"),
    ContributionDecidedError: (409, "already_decided"),
}
"""Errors whose message is for whoever asked, as it is: the HTTP status and the code of each."""


def _told(status: int, code: str, _: Request, exc: Exception) -> JSONResponse:
    return problem(status, code, str(exc))


def handle_problems(app: FastAPI) -> None:
    """Register handlers that turn every exception of the application's routes into such a response."""

    for kind, (status, code) in _TOLD.items():
        app.add_exception_handler(kind, partial(_told, status, code))

    @app.exception_handler(ContributionError)
    def refused(_: Request, exc: ContributionError) -> JSONResponse:
        return problem(422, "invalid_contribution", without_places(str(exc)))

    @app.exception_handler(KnowledgeBaseError)
    def ours(_: Request, exc: KnowledgeBaseError) -> JSONResponse:
        _log.warning("a request failed: %s", exc)
        return answer_problem(as_answer_error(exc))

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, exc: RequestValidationError) -> JSONResponse:
        if any(error["type"] == "json_invalid" for error in exc.errors()):
            return problem(400, "not_json", "the request is not valid JSON")
        messages = "; ".join(": ".join([*_field(error["loc"]), error["msg"]]) for error in exc.errors())
        return problem(422, "invalid_request", messages)

    @app.exception_handler(HTTPException)
    def http(_: Request, exc: HTTPException) -> JSONResponse:
        code = {400: "not_json", 404: "not_found", 405: "method_not_allowed"}.get(exc.status_code, "http_error")
        return problem(exc.status_code, code, str(exc.detail), exc.headers)

    @app.exception_handler(Exception)
    def unexpected(_: Request, exc: Exception) -> JSONResponse:
        _log.error("a request failed unexpectedly", exc_info=exc)
        return problem(500, "unexpected", UNEXPECTED)


def _field(location: tuple[str | int, ...]) -> list[str]:
    """The path of the wrong field in the request, such as ``items.0.name``; empty for the whole body."""
    return [".".join(map(str, location[1:]))] if location[1:] else []
