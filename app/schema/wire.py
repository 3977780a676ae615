"""What all messages are made of, and what is said when a request fails."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """Base of all messages: immutable; unknown fields are ignored, so that a newer service can add fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Problem(Wire):
    """Why a request failed: ``message`` tells a person what happened and what to do."""

    code: str
    message: str
