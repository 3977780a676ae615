"""Kills the pipeline at random moments while authors edit, then checks that nothing was lost, doubled or paid twice.

    python -m benchmarks.crash_soak [--articles 500] [--kills 50] [--seed 1] [--out benchmarks/results/crash_soak.json]

The real Dagster daemon watches a staging folder of generated articles, whose images a fake paid service describes
(`benchmarks/paid.py`). SIGKILL hits the process of a run, one of its workers, the daemon, or everything at once. After
each kill the daemon is restarted if it is gone, and nothing else is done.
"""

import argparse
import json
import logging
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.generate import SAMPLES, Recipe, generate
from benchmarks.kills import Plan, Soak, log
from benchmarks.material import load_material
from benchmarks.measure import machine
from benchmarks.paid import ANALYZER, LATENCY, LEDGER
from benchmarks.soundness import problems, run_statuses, stray_files
from benchmarks.stack import Stack
from kb_pipeline.flow.watch import unchanged
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import load_states

WORKERS = 2
POOL = "fake-vision"


@dataclass
class Outcome:
    """The result of a soak; sound if ``problems`` is empty."""

    plan: Plan
    seconds: float = 0.0
    kills: dict[str, int] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    articles: int = 0
    images: int = 0
    answers: int = 0
    repeated: int = 0
    repeats_allowed: int = 0
    recorded_calls: int = 0
    runs: dict[str, int] = field(default_factory=dict)
    runs_hit: int = 0
    stray_files: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> None:
    """Run a soak, print and store its outcome."""
    arguments = _arguments()
    logging.basicConfig(format="%(asctime)s %(message)s")
    log.setLevel(logging.INFO)
    plan = Plan(arguments.articles, arguments.kills, arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="kb-crash-soak-", dir=arguments.work))
    outcome = soak(folder, plan)
    report = {"machine": machine(), **asdict(outcome)}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(as_text(outcome))
    print(as_text(outcome))
    if outcome.problems:
        sys.exit(f"left as it is, to be looked at: {folder}")
    shutil.rmtree(folder)


def soak(folder: Path, plan: Plan) -> Outcome:
    """Kill as planned, wait until nothing is left to do, and check everything."""
    started = time.monotonic()
    stack = Stack(folder, _environment(folder, plan))
    with stack.instance() as instance:  # if a killed run does not free its slot, no image is described any more
        instance.event_log_storage.set_concurrency_slots(POOL, 1)
    material = load_material([SAMPLES])
    generate(stack.staging, plan.articles, material, Recipe(plan.seed, plan.images))
    try:
        kills, changes, hit = Soak(stack, plan, material).run()
        quiet = _wait_until_quiet(stack, plan)
    finally:
        stack.stop()
    outcome = Outcome(plan, kills=dict(sorted(kills.items())), changes=dict(sorted(changes.items())), runs_hit=len(hit))
    outcome.problems += quiet
    _count(stack, outcome)
    outcome.problems += [*problems(stack), *_of_payments(outcome), *_of_runs_hit(stack, hit)]
    outcome.seconds = round(time.monotonic() - started)
    return outcome


def _environment(folder: Path, plan: Plan) -> dict[str, str]:
    return {
        "KB_ANALYZER": ANALYZER,
        "KB_EMBEDDER": "hashing",
        "KB_WORKERS": str(WORKERS),
        "KB_WATCH": "true",
        "KB_WATCH_SECONDS": "2",
        "KB_SETTLE_SECONDS": "1",
        "KB_DELETE_GRACE_SECONDS": "3",
        "KB_BATCH_ARTICLES": str(plan.batch),
        "KB_PUBLISH_EVERY": "10",
        LEDGER: str(folder / "ledger"),
        LATENCY: str(plan.latency),
    }


def _wait_until_quiet(stack: Stack, plan: Plan) -> list[str]:
    """Wait until the sensor has nothing left to do; return a problem if that never happens."""
    started, deadline = time.time(), time.monotonic() + plan.quiet_seconds
    while time.monotonic() < deadline:
        tick = stack.last_tick()
        staged = sum(1 for _ in stack.staging.glob("*/index.html"))
        if tick and tick.at > started and tick.said == unchanged(staged):
            log.info("quiet: %s", tick.said)
            return []
        time.sleep(2)
    return [f"after {plan.quiet_seconds:.0f} s the sensor still says: {tick.said if tick else 'nothing'}"]


def _count(stack: Stack, outcome: Outcome) -> None:
    answers = Counter((stack.folder / "ledger").read_text().split())
    with stack.entered():
        layout = Workspace(stack.settings).layout
        spent = [usage for state in load_states(layout) for usage in state.spent.get("image_descriptions", ())]
    outcome.articles = sum(1 for _ in stack.staging.glob("*/index.html"))
    outcome.images, outcome.answers = len(answers), answers.total()
    outcome.repeated = answers.total() - len(answers)
    outcome.repeats_allowed = WORKERS * sum(outcome.kills.values())
    outcome.recorded_calls = sum(usage.calls for usage in spent)
    outcome.stray_files = len(stray_files(stack))
    with stack.instance() as instance:
        outcome.runs = run_statuses(instance)


def _of_payments(outcome: Outcome) -> Iterator[str]:
    if outcome.repeated > outcome.repeats_allowed:
        yield f"{outcome.repeated} images were paid twice, at most {outcome.repeats_allowed} answers were under way"


def _of_runs_hit(stack: Stack, hit: dict[str, float]) -> Iterator[str]:
    """Find runs that were killed but did not fail, unless they had ended just before."""
    with stack.instance() as instance:
        for run_id, at in hit.items():
            record = instance.get_run_record_by_id(run_id)
            if record is None:
                yield f"run {run_id} is unknown"
            elif record.dagster_run.status.value != "FAILURE" and (record.end_time or 0) > at:
                yield f"run {run_id} was killed and is {record.dagster_run.status.value}"


def as_text(outcome: Outcome) -> str:
    """The outcome as markdown."""
    plan = outcome.plan
    kills = ", ".join(f"{target} {count}" for target, count in outcome.kills.items())
    changes = ", ".join(f"{count} {kind}" for kind, count in outcome.changes.items())
    runs = ", ".join(f"{count} {status}" for status, count in outcome.runs.items())
    lines = [
        f"{plan.articles} articles, {sum(outcome.kills.values())} kills (seed {plan.seed}), {outcome.seconds:.0f} s.",
        "",
        "| | |",
        "|---|---|",
        f"| killed | {kills} |",
        f"| changed meanwhile | {changes} |",
        f"| articles in the end | {outcome.articles} |",
        f"| runs | {runs}; {outcome.runs_hit} were killed with their process |",
        f"| images described | {outcome.images}, by {outcome.answers} paid answers |",
        f"| paid again | {outcome.repeated}; {WORKERS} workers x kills allow {outcome.repeats_allowed} |",
        f"| calls in the articles' accounts | {outcome.recorded_calls} |",
        f"| temporary files left behind | {outcome.stray_files} |",
        "",
        "Sound: everything staged is published, once, as its newest source says."
        if not outcome.problems
        else "\n".join(f"- {problem}" for problem in outcome.problems),
    ]
    return "\n".join(lines) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=500)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/crash_soak.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
