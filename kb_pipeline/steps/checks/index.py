"""Does the index hold an article's chunks, all of them and no others?"""

from collections.abc import Mapping

from kb_pipeline.records import CheckResult
from kb_pipeline.steps.checks.results import named, outcome


def index_holds_the_chunks(wanted: Mapping[str, str], live: Mapping[str, str]) -> CheckResult:
    """The ``live`` index lists the ``wanted`` chunks and no others; both are content hashes by chunk id."""
    kinds = {
        "missing": sorted(wanted.keys() - live.keys()),
        "stale": sorted(key for key in wanted.keys() & live.keys() if wanted[key] != live[key]),
        "orphaned": sorted(live.keys() - wanted.keys()),
    }
    return outcome(
        "index_holds_the_chunks",
        [problem for kind, ids in kinds.items() for problem in named("entry", kind, ids)],
        "Materialise search_index again.",
        {"entries": len(live), **{kind: len(ids) for kind, ids in kinds.items()}},
    )
