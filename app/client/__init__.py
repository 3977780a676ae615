"""A typed Python client of the agent service. It does not depend on the chat page."""

from app.client.agent import AgentClient
from app.client.answers import (
    SERVICE_DOWN,
    Agent,
    AnswerStream,
    ClientError,
    PlanStep,
    SearchStep,
    SentPicture,
    ServiceDownError,
    Step,
    ToolStep,
)
from app.client.service import Client, ServedBytes

__all__ = [
    "SERVICE_DOWN",
    "Agent",
    "AgentClient",
    "AnswerStream",
    "Client",
    "ClientError",
    "PlanStep",
    "SearchStep",
    "SentPicture",
    "ServedBytes",
    "ServiceDownError",
    "Step",
    "ToolStep",
]
