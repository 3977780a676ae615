"""``kb retry``: the failing articles once more, and only they."""

import sys

from kb_pipeline.cli.console import err, named, print_json
from kb_pipeline.cli.options import AsJson, OnlyArticles
from kb_pipeline.cli.progress import Tally, build_with_bar
from kb_pipeline.cli.summary import document, summarise
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings
from kb_pipeline.state import load_states
from kb_pipeline.workspace import open_workspace


def retry(article: OnlyArticles = None, as_json: AsJson = False) -> None:
    """Try the failing articles again, and only those.

    Exit code 1: some failed again.
    """
    settings = load_settings()
    states = {state.article_id: state for state in load_states(open_workspace(settings).layout)}
    if strangers := sorted(set(article or ()) - states.keys()):
        raise SettingsError(f"nothing is known of {', '.join(strangers)}; run: kb ingest --article {strangers[0]}")
    failing = [key for key in dict.fromkeys(article or states) if states[key].failure]
    if good := [key for key in article or () if key not in failing]:
        err.print(f"not failing, left alone: {named(good)}", soft_wrap=True)
    tally = Tally("trying again", len(failing))
    run = build_with_bar(settings, "retry_failing_articles", {"articles": failing}, tally) if failing else None
    if run:
        summarise(tally, {})
    else:
        err.print("nothing to try again")
    if as_json:
        print_json(document(run, tally, {}))
    sys.exit(1 if tally.failures else 0)
