"""What Azure AI Search did not do, as errors of the search index; some of them pass, some need a person.

Not here: how a service's answer becomes words (services.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kb_pipeline.errors import IndexMissingError, KnowledgeBaseError, SearchError, ServiceRefusedError, TransientError
from kb_pipeline.services import Service


class SearchBusyError(SearchError, TransientError):
    """The search service is busy or cannot be reached; it may work when tried again."""


class SearchRefusedError(SearchError, ServiceRefusedError):
    """The search service does not let us in, or has no such index."""


@contextmanager
def explained(service: Service, timeout: float, index: str = "") -> Iterator[None]:
    """Turn what the SDK raises into ours; ``timeout`` are the seconds that an answer may take.

    Raises:
        IndexMissingError: documents of the ``index`` are asked for, and there is none.
        SearchError: also a ``TransientError`` or a ``ServiceRefusedError`` where the service's answer says so.
    """
    from azure.core.exceptions import ResourceNotFoundError, ServiceResponseTimeoutError

    try:
        with service.explained():
            yield
    except KnowledgeBaseError as exc:
        if isinstance(exc.__cause__, ServiceResponseTimeoutError):
            raise SearchBusyError(str(service.silent(timeout))) from exc.__cause__
        if index and isinstance(exc.__cause__, ResourceNotFoundError):
            raise missing(index, service.place) from exc.__cause__
        raise _as_search_error(exc) from exc.__cause__
    except (ValueError, TypeError, AttributeError, KeyError) as exc:  # how the SDK takes what is no answer of it
        raise SearchError(
            f"{service.place} answered what cannot be read ({type(exc).__name__}: {service.words(exc)}); "
            f"check {service.endpoint_setting}"
        ) from service.told(exc)


def missing(index: str, place: str) -> IndexMissingError:
    """The error for an index that is not there."""
    return IndexMissingError(f"there is no search index {index} in {place}; run: kb ingest")


def _as_search_error(error: KnowledgeBaseError) -> KnowledgeBaseError:
    match error:
        case SearchError():
            return error
        case TransientError():
            return SearchBusyError(str(error), error.retry_after)
        case ServiceRefusedError():
            return SearchRefusedError(str(error))
        case _:
            return SearchError(str(error))
