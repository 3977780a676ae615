"""What every route is given: the service, and who asks."""

from contextvars import ContextVar
from typing import Annotated, cast

from fastapi import Depends, Request

from app.principal import Principal
from app.service import Service

asking: ContextVar[Principal] = ContextVar("asking")
"""Who the request under way is from; set by :class:`app.api.gate.Gate` before any route runs."""


def service_of(request: Request) -> Service:
    """The service that the application was made for."""
    return cast(Service, request.app.state.service)


def who_asks() -> Principal:
    """Who the request is from."""
    return asking.get()


TheService = Annotated[Service, Depends(service_of)]
Who = Annotated[Principal, Depends(who_asks)]
