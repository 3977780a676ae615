"""An investigation in the terminal."""

from rich.console import Console
from rich.markup import escape

from app.investigating.by_rules import RulesInvestigator
from kb_pipeline.application import Investigated
from kb_pipeline.network.opening import configured_scenario, open_store
from kb_pipeline.settings import Settings


async def investigate(alert: str, scenario: str, settings: Settings, console: Console | None) -> Investigated:
    """Investigate an alert; with a console, print each step when it is done."""
    folder = configured_scenario(settings, scenario)
    store = open_store(settings, folder)
    report, events = "", []
    try:
        async for event in RulesInvestigator(store, folder, settings.window_minutes).investigate(alert):
            events.append({"event": event.event, **event.data})
            if event.event == "message":
                report = event.data["text"]
            elif event.event == "step_complete" and console:
                word = "[red]failed[/] " if event.data.get("error") else ""
                first = event.data["response"].partition("\n")[0]
                console.print(f"{event.data['step']}  {event.data['agent']}  {word}{escape(first)}", soft_wrap=True)
    finally:
        await store.close()
    return Investigated(report=report, events=events)
