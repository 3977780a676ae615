"""The speeds of the suite, which keep themselves: a test over a second says why it takes so long, or it fails.

``@pytest.mark.slow("why")`` is for tests over a second, ``@pytest.mark.rare("why")`` for those that ``make test``
leaves to ``make test-all``. A test without a mark that took over a second is run twice more at most before it fails,
since the first one that imports a library waits for it, and the machine itself may stand still for a while. A busy
machine fails nothing: of the time that passed, the part in which some program waited for a core is taken off, as Linux
tells it (https://docs.kernel.org/accounting/psi.html). Where the system does not tell it, no test is judged.

Modules that take longest come first, so that with several workers none is left alone with one at the end.
``--record-seconds`` writes how long each took, its rare tests by themselves, since they are not always asked for.
"""

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

LIMIT = 1.0

_BUSY = 1.5
"""CPU seconds of a computation while all cores are busy, by those on an idle machine; measured: 1.4."""

_PRESSURE = Path("/proc/pressure/cpu")
_open = open  # a test may forbid what has that name
_RECORD = Path(__file__).with_name("seconds.json")
_SHARED = pytest.StashKey[float]()
_FOR_MODULE = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes how long modules took."""
    parser.addoption("--record-seconds", action="store_true", help=f"write the seconds of each module to {_RECORD}")


def pytest_configure(config: pytest.Config) -> None:
    """Record how long modules took, where that is asked for."""
    if config.getoption("record_seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the modules that take longest first, of what was asked for."""
    recorded: dict[str, dict[str, float]] = json.loads(_RECORD.read_text())
    asked_for = {(_module(item.nodeid), _kind(item.keywords)) for item in items}
    seconds = Counter[str]()
    for module, kind in asked_for:
        seconds[module] += recorded.get(kind, {}).get(module, 0)
    items.sort(key=lambda item: -seconds[_module(item.nodeid)])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose mark gives no reason."""
    for mark in item.iter_markers():
        if mark.name in ("slow", "rare") and not mark.args:
            pytest.fail(f"say why it takes so long: @pytest.mark.{mark.name}('why')", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    """Count what is set up for several tests as not this test's own.

    What is set up for a module is the module's; for the whole session, nobody's.
    """
    if fixturedef.scope == "function":
        return (yield)
    clock = _Clock()
    try:
        return (yield)
    finally:
        seconds, stash = clock.seconds(), request.config.stash
        stash[_SHARED] = stash.get(_SHARED, 0.0) + seconds
        if fixturedef.scope in ("class", "module"):
            stash[_FOR_MODULE] = stash.get(_FOR_MODULE, 0.0) + seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Leave out what the last test of several tears down for all of them."""
    if nextitem is not None and nextitem.parent is item.parent:
        return (yield)
    clock = _Clock()
    try:
        return (yield)
    finally:
        item.config.stash[_SHARED] = item.config.stash.get(_SHARED, 0.0) + clock.seconds()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test without a mark, and fail it if it takes over a second each of three times."""
    is_measured = bool(item.config.getoption("cov_source", None))  # lines that run are counted, which takes time
    if is_measured or not _PRESSURE.exists() or _says_why(item.iter_markers()):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    item.config.stash[_FOR_MODULE] = 0.0
    seconds, reports = _run(item, nextitem)
    for_module = 0.0 if _module_says_why(item) else item.config.stash[_FOR_MODULE]
    for _ in range(2):
        if seconds > LIMIT and all(report.passed for report in reports):
            item._initrequest()  # type: ignore[attr-defined]  # as a plugin that runs a test again has to
            seconds, reports = _run(item, nextitem)
    seconds = max(seconds, for_module)
    for report in reports:
        if report.when == "call" and report.passed and seconds > LIMIT:
            report.outcome = "failed"
            report.longrepr = f"took {seconds:.1f} s: make it cheaper, or say why not: @pytest.mark.slow('why')"
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _says_why(marks: Iterable[pytest.Mark]) -> bool:
    return any(mark.name in ("slow", "rare") for mark in marks)


def _module_says_why(item: pytest.Item) -> bool:
    # Also where the test with the mark, which sets up for all, was not asked for.
    return any(_says_why(getattr(test, "pytestmark", ())) for test in vars(item.getparent(pytest.Module).obj).values())


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> tuple[float, list[pytest.TestReport]]:
    item.config.stash[_SHARED] = 0.0
    clock = _Clock()
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    return clock.seconds() - item.config.stash[_SHARED], reports


class _Clock:
    """Measures from its making what a test takes on an idle machine."""

    def __init__(self) -> None:
        self._passed, self._cpu, self._waited = time.perf_counter(), _cpu(), _waited()

    def seconds(self) -> float:
        """The time that passed without waiting for a core, and at least that of computing."""
        passed = time.perf_counter() - self._passed
        return max(passed - (_waited() - self._waited), (_cpu() - self._cpu) / _BUSY)


def _cpu() -> float:
    times = os.times()  # the children's: of those that ended
    return times.user + times.system + times.children_user + times.children_system


def _waited() -> float:
    if not _PRESSURE.exists():
        return 0.0
    with _open(_PRESSURE) as file:
        return int(file.read().partition("total=")[2].split()[0]) / 1e6


class _Recorder:
    """Adds up what the tests of each module take."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_kind(report.keywords)][_module(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        recorded = json.loads(_RECORD.read_text())
        for kind, modules in self._seconds.items():
            recorded[kind] = {name: round(seconds, 1) for name, seconds in modules.most_common() if seconds >= 1}
        _RECORD.write_text(json.dumps(recorded, indent=1) + "\n")


def _kind(keywords: Mapping[str, object]) -> str:
    return "rare" if "rare" in keywords else "usual"


def _module(nodeid: str) -> str:
    return nodeid.partition("::")[0]
