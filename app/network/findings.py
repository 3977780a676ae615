"""What a diagnosis found, as ids of elements, for programs and maps. Pure."""

from datetime import UTC, datetime

from app.network.diagnosing import Diagnosis
from app.schema.network import Findings, FoundCause
from kb_pipeline.network.topology import Topology


def findings_of(network: Topology, diagnosis: Diagnosis) -> Findings:
    """The causes, what alerts, what is hit, and the ways between them."""
    ids = network.ids
    return Findings(
        causes=tuple(
            FoundCause(
                id=ids[cause.vertex],
                type=network.types[cause.vertex],
                name=network.names[cause.vertex],
                probability=round(cause.probability, 4),
                certainty=cause.certainty or "possible",
                onset=_time(cause.hypothesis.onset) if cause.hypothesis.onset else None,
            )
            for cause in diagnosis.ranking.chosen
        ),
        alerting=tuple(ids[each] for each in diagnosis.alerting),
        down=tuple(ids[each] for each in diagnosis.blast.down),
        weakened=tuple(ids[each] for each in diagnosis.blast.weakened),
        perhaps=tuple(ids[each] for each in diagnosis.blast.perhaps),
        paths=tuple(tuple(ids[each] for each in way) for way in diagnosis.paths),
        since=_time(diagnosis.since),
        until=_time(diagnosis.until),
    )


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
