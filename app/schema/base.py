"""What all messages are made of."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """Base of all messages: immutable; a newer service may say more than an older client knows."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Problem(Wire):
    """Why a request failed, for a person: what happened, what to do."""

    code: str
    message: str
