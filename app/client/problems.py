"""What can go wrong between a client and the service, as the service says it or as we notice it."""

from collections.abc import Mapping

from pydantic import ValidationError

from app.schema import Problem

CUT_SHORT = Problem(code="cut_short", message="the answer broke off before its end; ask again")
TOO_LONG = Problem(code="timeout", message="the service took too long; try again")
NO_IMAGE = Problem(code="not_found", message="there is no image at that address")
NOT_THE_SERVICE = Problem(
    code="not_the_service", message="what answers there is not the agent service; check KB_APP_URL"
)


class ServiceError(Exception):
    """The service did not do what it was asked. ``status`` is ``None`` where it answered no status."""

    def __init__(self, problem: Problem, status: int | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.status = status


class ServiceDownError(ServiceError):
    """The service cannot be reached."""

    def __init__(self, url: str) -> None:
        super().__init__(Problem(code="service_down", message=f"the service does not answer at {url}"))


def problem_in(body: object) -> Problem:
    """What the service says is wrong; ``body`` is the whole answer or its ``error``."""
    said = body.get("error", body) if isinstance(body, Mapping) else None
    try:
        return Problem.model_validate(said)
    except ValidationError:
        return NOT_THE_SERVICE
