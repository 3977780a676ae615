"""What the SDK of Mistral Document AI raises, told in our words. No document is quoted, and no key."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.services import Service, retry_after

if TYPE_CHECKING:
    from mistralai.azure.client.errors import MistralAzureError


@contextmanager
def explained(service: Service, model: str, seconds: float) -> Iterator[None]:
    """Turn what the SDK and its HTTP client raise into our errors; ``model`` is the deployment that is asked.

    Raises:
        KnowledgeBaseError: the service refused, is busy, did not answer within ``seconds``, or cannot be reached.
    """
    import httpx2
    from mistralai.azure.client.errors import MistralAzureError, NoResponseError

    try:
        yield
    except MistralAzureError as exc:
        raise _refused(service, model, exc) from service.told(exc)
    except httpx2.TimeoutException as exc:
        raise service.silent(seconds) from exc
    except (httpx2.HTTPError, httpx2.InvalidURL, NoResponseError) as exc:
        raise service.unreachable(exc) from service.told(exc)


def _refused(service: Service, model: str, problem: "MistralAzureError") -> KnowledgeBaseError:
    status, said = problem.status_code, _said(problem.body)
    if status < 300:  # now and then the whole body of a good answer is: null
        return TransientError(f"{service.place} answered {status} without pages; try again")
    if status == 404:
        said += f"; there must be a deployment {model} (KB_MISTRAL_MODEL)"
    return service.refused(status, said.removeprefix("; "), retry_after(problem.headers))


def _said(body: str) -> str:
    """The message in an error's body: Azure's, Mistral's or that of a gateway, without the request it repeats."""
    try:
        said: Any = json.loads(body)
    except ValueError:
        return body
    while isinstance(said, dict):
        said = next((said[key] for key in ("error", "message", "detail", "msg") if said.get(key)), "")
    return "; ".join(map(_invalid_field, said)) if isinstance(said, list) else str(said)


def _invalid_field(problem: object) -> str:
    """One entry of a validation error (https://fastapi.tiangolo.com/tutorial/handling-errors/)."""
    if not isinstance(problem, dict):
        return str(problem)
    return f"{'.'.join(map(str, problem.get('loc', ())))}: {problem.get('msg', '')}"
