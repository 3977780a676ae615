"""Errors as HTTP responses: a status, a code for programs, and a message that says what happened and what to do."""

import logging
import math
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from app.answering.chosen_model import NotAnAdministratorError
from app.contributing.contributing import NotAnUploaderError, NotAReviewerError, OwnContributionError
from app.errors import AnswerError, as_answer_error, without_places
from app.library.articles import ArticleNotFoundError
from app.library.quality import RunNotFoundError
from app.network.running import InvestigationNotFoundError
from app.network.served import NetworkNotFoundError
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


def handle_problems(app: FastAPI) -> None:
    """Register handlers that turn every exception of the application's routes into such a response."""

    @app.exception_handler(ArticleNotFoundError)
    @app.exception_handler(RunNotFoundError)
    @app.exception_handler(ContributionNotFoundError)
    @app.exception_handler(GapNotFoundError)
    @app.exception_handler(InvestigationNotFoundError)
    @app.exception_handler(NetworkNotFoundError)
    def not_found(_: Request, exc: KnowledgeBaseError) -> JSONResponse:
        return problem(404, "not_found", str(exc))

    @app.exception_handler(OwnContributionError)
    def own(_: Request, exc: OwnContributionError) -> JSONResponse:
        return problem(403, "own_contribution", str(exc))

    @app.exception_handler(NotAReviewerError)
    def forbidden(_: Request, exc: NotAReviewerError) -> JSONResponse:
        return problem(403, "not_a_reviewer", str(exc))

    @app.exception_handler(NotAnUploaderError)
    def no_uploader(_: Request, exc: NotAnUploaderError) -> JSONResponse:
        return problem(403, "not_an_uploader", str(exc))

    @app.exception_handler(NotAnAdministratorError)
    def not_administrator(_: Request, exc: NotAnAdministratorError) -> JSONResponse:
        return problem(403, "not_an_administrator", str(exc))

    @app.exception_handler(ContributionDecidedError)
    def decided(_: Request, exc: ContributionDecidedError) -> JSONResponse:
        return problem(409, "already_decided", str(exc))

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
