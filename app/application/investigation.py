"""An investigation in the terminal."""

from rich.console import Console
from rich.markup import escape

from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.network.opening import open_investigator
from app.settings import AppSettings
from kb_pipeline.application import Investigated
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.network.opening import configured_scenario, open_store
from kb_pipeline.settings import Settings


async def investigate(
    alert: str, scenario: str, app_settings: AppSettings, settings: Settings, console: Console | None
) -> Investigated:
    """Investigate an alert for the local user; with a console, print each step when it is done."""
    folder = configured_scenario(settings, scenario)
    store = open_store(settings, folder)
    retrieval = Retrieval(open_workspace(settings))
    investigator = open_investigator(
        app_settings, settings, store, folder, retrieval, app_settings.local_principal, CitationBook()
    )
    report, events, citations = "", [], []
    try:
        async for event in investigator.investigate(alert):
            events.append({"event": event.event, **event.data})
            if event.event == "message":
                report = event.data["text"]
                citations = [each.model_dump(mode="json") for each in event.citations if each.used]
            elif event.event == "step_complete" and console:
                word = "[red]failed[/] " if event.data.get("error") else ""
                first = event.data["response"].partition("\n")[0]
                console.print(f"{event.data['step']}  {event.data['agent']}  {word}{escape(first)}", soft_wrap=True)
    finally:
        await investigator.close()
        await store.close()
        retrieval.close()
    return Investigated(report=report, events=events, citations=citations)
