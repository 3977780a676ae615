"""The language model that words the answers, and how another is chosen."""

from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints

from app.schema.answers import AnsweredBy
from app.schema.wire import Wire


class ModelAddress(Wire):
    """A language model at an endpoint that speaks OpenAI's protocol, or on Azure OpenAI, where it is a deployment.

    Without an ``endpoint``, OpenAI's own is meant; without a ``model``, one of those that the endpoint lists.
    """

    endpoint: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    api_key: SecretStr = Field(default=SecretStr(""), max_length=4000)


class ModelTrial(Wire):
    """What a model answered when it was tried. ``models`` are those that its endpoint lists, ``model`` the tried one.

    ``problem`` says why it cannot be used; empty if it can. ``seconds`` is the time of its first answer.
    """

    models: tuple[str, ...] = ()
    model: str = ""
    seconds: float | None = None
    calls_tools: bool = False
    sees_images: bool = False
    problem: str = ""


class ModelChoice(ModelAddress):
    """The model that words answers from now on, with what a trial found out about it."""

    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    calls_tools: bool = False
    sees_images: bool = False


class ModelInUse(Wire):
    """What words answers now. ``endpoint`` is the model's address, for those who may choose another.

    ``is_chosen``: somebody chose it while the service runs; otherwise the settings say it.
    """

    answered_by: AnsweredBy
    model: str | None
    endpoint: str = ""
    sees_images: bool = False
    is_chosen: bool = False
    may_choose: bool = False
