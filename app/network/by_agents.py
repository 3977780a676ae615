"""Investigates with a language model: an orchestrator asks specialists, and gets what the rules found as evidence.

Whatever the model does, its report is held to the network and to the passages that were found. If it fails again and
again, the report of the rules is sent, and says so.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from string import Template
from typing import Any, Literal

from agent_framework import (
    Agent,
    AgentResponseUpdate,
    AgentSession,
    ChatContext,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    ResponseStream,
)

from app.errors import AnswerError, UpstreamMissingError, UpstreamRefusedError
from app.grounding.citations import ReadingOrder
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.model.calls import OUT_OF_ROOM, ModelCalls, ModelText, NoAnswerError, explain
from app.model.client import ChatClient
from app.model.passages import format_result
from app.network import prompts
from app.network.base import Investigator, ReportedEvent
from app.network.by_rules import Case, RulesInvestigator, begin, end, findings
from app.network.grounded_report import ground_report
from app.network.report import write_report
from app.network.specialists import CONSULTATION, SPECIALISTS, Consultation, Specialist, SpecialistTools
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)
ORCHESTRATOR = "Orchestrator"
RANKED_CAUSES = "ranked_causes"
_CALLS = 12
"""Consultations of one investigation, ranked causes included."""
_SHOWN = 4000
"""Characters of a query or an answer that a step shows; more is scrolled past."""
_LOOK_SECONDS = 0.5
"""Seconds after which it is looked whether the run ended without a word."""
_SHARE = 0.8
"""The part of KB_RUN_SECONDS that the model has, so that there is time for the report of the rules."""
_RANKED_TOLD = (
    "What the rules found: which elements explain the alerts, with probabilities and reasons, ways of the failure, who "
    "is hit, and what could not be looked at. Call it first."
)


class _Calls(ModelCalls):
    """Watches all calls of a run, those of the specialists as well, and when something was heard last."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = time.monotonic()
        self.busy = 0
        """Tools at work, whose silence is not the model's."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        self.heard = time.monotonic()
        context.stream_transform_hooks.append(self._hear)
        await super().process(context, call_next)

    def _hear(self, update: Any) -> Any:  # noqa: ANN401  (the framework's hook)
        self.heard = time.monotonic()
        return update

    @property
    def silent_seconds(self) -> float:
        """For how long the model has said nothing."""
        return 0.0 if self.busy else time.monotonic() - self.heard


class _Working(FunctionMiddleware):
    """Around the tools of a specialist: while one works, nobody waits for the model."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        self._calls.busy += 1
        try:
            await call_next()
        finally:
            self._calls.busy -= 1
            self._calls.heard = time.monotonic()


class _Run(FunctionMiddleware):
    """One investigation. Around the orchestrator's tools: counts and numbers consultations, and tells their events.

    A specialist that fails becomes a result that says so, and the run goes on.
    """

    def __init__(self, case: Case, equipment: SpecialistTools, settings: AppSettings) -> None:
        self.case, self.equipment, self.settings = case, equipment, settings
        self.calls = _Calls()
        self.events: asyncio.Queue[ReportedEvent | None] = asyncio.Queue()
        self.steps = 0
        self.completed = 0
        self.found: list[tuple[str, str, str]] = []
        """Of each consultation that succeeded: who was asked, what, and the answer."""
        self._left = _CALLS

    def tell(self, event: Literal["step_thinking", "step_start", "step_complete"], data: Mapping[str, Any]) -> None:
        """Give the reader an event."""
        self.completed += event == "step_complete"
        self.events.put_nowait(ReportedEvent(event, data))

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        if self._left <= 0:
            context.result = prompts.NO_MORE_CALLS
            return
        self._left -= 1
        self.steps += 1
        specialist = _BY_NAME.get(context.function.name)
        agent = specialist.name if specialist else ORCHESTRATOR
        step = {"step": self.steps, "agent": agent}
        arguments = context.arguments if isinstance(context.arguments, Mapping) else context.arguments.model_dump()
        task = str(arguments.get("task", "")) if specialist else RANKED_CAUSES
        consultation = Consultation(specialist.calls(self.equipment) if specialist else 0)
        CONSULTATION.set(consultation)
        self.tell("step_start", step)
        began, problem, response = time.perf_counter(), "", ""
        try:
            await call_next()
            response = _text(context.result)
            self.found.append((agent, task, response))
            context.result = format_result(response)
        except asyncio.CancelledError:
            problem = "it was ended before it answered"
            raise
        except Exception as exc:
            problem = self._problem(exc)
            context.result = f"{agent} failed: {problem}. Go on with the others, and say in the report what is missing."
        finally:
            data = {
                **step,
                "duration": round(time.perf_counter() - began, 3),
                "query": "\n".join([task, *consultation.queries[-3:]])[:_SHOWN],
                "response": (problem or response)[:_SHOWN],
                **({"error": True} if problem else {}),
            }
            self.tell("step_complete", data)

    def _problem(self, exc: Exception) -> str:
        """Why a specialist failed, in words for readers."""
        explained = explain(exc, self.settings, begun=self.calls.begun)
        if explained is None:
            _log.error("a specialist failed unexpectedly", exc_info=exc)
            return "something went wrong; the service's log has the details"
        return str(explained)


_BY_NAME: Mapping[str, Specialist] = {each.name: each for each in SPECIALISTS}


class AgentsInvestigator(Investigator):
    """Lets a model investigate. Its connections are its own, and are closed with it."""

    def __init__(
        self, settings: AppSettings, rules: RulesInvestigator, equipment: Callable[[Case], SpecialistTools]
    ) -> None:
        """``rules`` gather the evidence, and report where the model fails; ``equipment`` is made for their case."""
        self.settings, self.rules, self._equipment = settings, rules, equipment
        self._client = ChatClient(settings, rounds=_CALLS, is_concurrent=True)

    @property
    def rests_on(self) -> Collection[str]:
        return self.rules.rests_on  # the specialists' passages join the same book

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[ReportedEvent, None]:
        began = time.perf_counter()
        yield begin(alert, run_id)
        case = Case(alert)
        yield ReportedEvent("step_thinking", {"agent": ORCHESTRATOR, "status": "reading network and telemetry"})
        await self.rules.gather_evidence(case)
        run = _Run(case, self._equipment(case), self.settings)
        problem = ""
        text = ""
        messages = [Message("user", ["Investigate this alert:\n\n" + format_result(alert)])]
        session = AgentSession()
        for attempt in range(self.settings.run_attempts):
            try:
                async with aclosing(self._attempt(run, messages, session, attempt, began)) as events:
                    async for event in events:
                        if isinstance(event, str):
                            text = event
                        else:
                            yield event
                break
            except KnowledgeBaseError as exc:
                problem = str(exc)
                _log.warning("run %d of the agents failed: %s", attempt + 1, exc)
                while not run.events.empty():
                    if left := run.events.get_nowait():
                        yield left
                if isinstance(exc, UpstreamRefusedError | UpstreamMissingError | _OutOfTimeError):
                    break
                messages = [_recovery(alert, run, problem)]
        if text:
            yield self._message(case, run, text)
        else:
            case.missing.append(f"the language model failed, so rules alone made this report: {problem}")
            async with aclosing(self.rules.steps(case, run.steps)) as rest:
                async for event in rest:
                    run.completed += event.event == "step_complete"
                    yield event
            yield self.rules.message(case)
        usage = run.calls.usage
        yield end(run.completed, usage.input_tokens + usage.output_tokens if usage else 0, began)

    async def close(self) -> None:
        await self._client.close()

    async def _attempt(
        self, run: _Run, messages: Sequence[Message], session: AgentSession, attempt: int, began: float
    ) -> AsyncGenerator[ReportedEvent | str, None]:
        """Yield the events of one run of the orchestrator, then its report.

        Raises:
            AnswerError: the model failed, was silent, or took too long.
        """
        task = asyncio.create_task(self._orchestrate(run, messages, session, attempt))
        task.add_done_callback(lambda _: run.events.put_nowait(None))
        run.calls.heard = time.monotonic()
        try:
            while (event := await self._next(run, began)) is not None:
                yield event
            yield await task
        except Exception as exc:
            problem = explain(exc, self.settings, begun=run.calls.begun)
            if problem is None:
                raise
            raise problem from (None if isinstance(problem, UpstreamRefusedError) else exc)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.sleep(0)  # the callback has told the end, which no other attempt may take for its own
            _forget_ends(run.events)

    async def _next(self, run: _Run, began: float) -> ReportedEvent | None:
        while True:
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    return await run.events.get()
            except TimeoutError:
                if run.calls.silent_seconds > self.settings.chat_timeout_seconds:
                    raise
                if time.perf_counter() - began > self.settings.run_seconds * _SHARE:
                    raise _OutOfTimeError(
                        f"it took longer than {self.settings.run_seconds * _SHARE:g} s of KB_RUN_SECONDS"
                    ) from None

    async def _orchestrate(self, run: _Run, messages: Sequence[Message], session: AgentSession, attempt: int) -> str:
        """Run the orchestrator, and return its report."""
        stream: ResponseStream[AgentResponseUpdate, Any] = self._orchestrator(run).run(
            list(messages),
            stream=True,
            session=session,
            options={"tool_choice": "auto" if attempt else "required"},
            middleware=[run.calls, run],
        )
        text, words = "", ModelText()
        announced: set[str] = set()
        async with stream:
            while (update := await anext(stream, None)) is not None:
                if _calls_a_tool(update.contents, announced, run):
                    text, words = "", ModelText()
                text += words.feed(update.text)
        text += words.finish()
        if not text.strip():
            raise NoAnswerError("the model ended without a report")
        return text + (OUT_OF_ROOM if run.calls.out_of_room else "")

    def _orchestrator(self, run: _Run) -> Agent:
        tools = [
            self._agent(each, run).as_tool(arg_description="what to find out, with ids and times")
            for each in SPECIALISTS
        ]
        ranked = FunctionTool(name=RANKED_CAUSES, description=_RANKED_TOLD, func=lambda: _evidence(run.case))
        told = prompts.orchestrator([(each.name, each.description) for each in SPECIALISTS])
        return Agent(self._client, told, name=ORCHESTRATOR, id=_version(ORCHESTRATOR), tools=[ranked, *tools])

    def _agent(self, specialist: Specialist, run: _Run) -> Agent:
        return Agent(
            ChatClient(self.settings, connection=self._client.connection, rounds=specialist.calls(run.equipment) + 1),
            specialist.prompt(run.equipment),
            name=specialist.name,
            id=_version(specialist.name),
            description=specialist.description,
            tools=list(specialist.tools(run.equipment)),
            middleware=[run.calls, _Working(run.calls)],
        )

    def _message(self, case: Case, run: _Run, text: str) -> ReportedEvent:
        book, order = run.equipment.book, ReadingOrder()
        grounder = Grounder(book, order)
        report = grounder.feed(text) + grounder.finish()
        if case.network is not None:
            report = ground_report(report, case.network)
        citations = mark_used(report, order.of(book.citations))
        return ReportedEvent("message", {"text": report}, findings(case), citations)


class _OutOfTimeError(AnswerError):
    """The model took longer than it may."""


def _evidence(case: Case) -> str:
    """The report of the rules without quotations, as evidence."""
    if case.network is None or case.diagnosis is None:
        return "\n".join(["Nothing could be ranked.", *case.missing])
    return write_report(case.network, case.diagnosis, case.found)


def _recovery(alert: str, run: _Run, problem: str) -> Message:
    """Tell the model that its run failed, and what was found until then."""
    responses = [f"{agent}, asked: {task}\n\n{response}" for agent, task, response in run.found]
    told = Template(prompts.RECOVERY).substitute(reason=problem)
    parts = ["Investigate this alert:\n\n" + format_result(alert), told, *map(format_result, responses)]
    return Message("user", ["\n\n".join(parts)])


def _calls_a_tool(contents: Sequence[Content], announced: set[str], run: _Run) -> bool:
    """Whether the model is writing a call; a specialist is announced once for each."""
    calls = [each for each in contents if each.type == "function_call"]
    for call in calls:
        key = call.call_id or ""
        if call.name and key not in announced:
            announced.add(key)
            agent = call.name if call.name in _BY_NAME else ORCHESTRATOR
            run.tell("step_thinking", {"agent": agent, "status": "being asked"})
    return bool(calls)


def _text(result: object) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, Sequence):
        return "".join(each.text or "" for each in result if isinstance(each, Content))
    return str(result)


def _version(name: str) -> str:
    return f"{name}/{prompts.PROMPT_VERSION}"


def _forget_ends(events: "asyncio.Queue[ReportedEvent | None]") -> None:
    """Take the marks of an end out of a queue, and leave the events."""
    kept = [events.get_nowait() for _ in range(events.qsize())]
    for event in kept:
        if event is not None:
            events.put_nowait(event)
