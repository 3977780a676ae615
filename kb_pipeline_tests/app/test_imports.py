"""What the service and its clients load before anybody asks: nothing that only some of them ever need."""

import subprocess
import sys

import pytest

SDKS = "dagster duckdb lancedb pandas openai mcp jwt httpx pypdfium2 mammoth matplotlib gremlin_python azure.cosmos"
ROOMS = "kb_pipeline.network.local.store kb_pipeline.network.cosmos.store app.network.by_rules app.network.by_agents"
WEB = "app.web.guard app.web.online app.web.lookup"


@pytest.mark.slow("starts the program")
@pytest.mark.parametrize(
    ("program", "unneeded"),
    [
        ("app.api.server", f"{SDKS} {ROOMS} {WEB}"),
        ("app.client", "numpy pyarrow dagster azure openai kb_pipeline.search kb_pipeline.network"),
        ("kb_pipeline.cli", f"{SDKS} {ROOMS} fastapi streamlit app"),
    ],
)
def test_a_program_starts_without_what_it_may_never_need(program: str, unneeded: str) -> None:
    code = f"import sys, {program}; print(*set({unneeded.split()!r}).intersection(sys.modules))"
    loaded = subprocess.run([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert loaded.split() == []
