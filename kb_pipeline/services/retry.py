"""When to try again: the one policy for transient errors, and the one for changes that another writer made first.

The clients of Azure's SDKs repeat single requests within seconds by :mod:`kb_pipeline.services.azure`.
"""

from collections.abc import Callable
from typing import Any

from tenacity import (
    RetryCallState,
    Retrying,
    nap,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from kb_pipeline.errors import TransientError
from kb_pipeline.limited import waiting


def after_transient_errors(
    attempts: int, longest_pause: float, is_transient: Callable[[BaseException], bool] | None = None
) -> Retrying:
    """Retries after errors that pass, with the pause in seconds that the service asked for.

    Without such a pause it is a random one from a range that doubles. The time counts as waiting, not as work, of the
    article in progress.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        retry_after = error.retry_after if isinstance(error, TransientError) else None
        return min(wait_random_exponential(multiplier=1)(state) if retry_after is None else retry_after, longest_pause)

    return Retrying(
        retry=retry_if_exception(is_transient or (lambda error: isinstance(error, TransientError))),
        stop=stop_after_attempt(attempts),
        wait=pause,
        sleep=_wait,
        reraise=True,
    )


def _wait(seconds: float) -> None:
    with waiting():
        nap.sleep(seconds)


def after_conflicts(
    attempts: int, first_pause: float, longest_pause: float, is_conflict: Callable[[BaseException], bool]
) -> dict[str, Any]:
    """The options of ``Retrying`` or ``AsyncRetrying`` for a change that fails if another writer was first.

    Pauses are random, so that the writers do not meet again, from a range in seconds that doubles.
    """
    return {
        "retry": retry_if_exception(is_conflict),
        "stop": stop_after_attempt(attempts),
        "wait": wait_random_exponential(multiplier=first_pause, max=longest_pause),
        "reraise": True,
    }
