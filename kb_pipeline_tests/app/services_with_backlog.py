"""Two services whose knowledge files leave something for later."""

from pathlib import Path

from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

COSMOS = """# Cosmos DB

Cosmos DB keeps the orders of all shops, one container for each region.

## Patterns

Point reads cost one unit, so that orders are read by their id. To restore orders:

1. Open the portal.
2. Choose the account.

#### Production backlog items

3. Ask the zebra desk for the quagga key.

## Production Backlog Items

Replicate orders to the zebra region, which needs the quagga key.

- Add a zebra region
- Rotate the quagga key
"""
VAULT = "# Key Vault\n\nKey Vault keeps the secrets of all shops.\n\n## Production Backlog Items\n\n- Buy an okapi\n"


def publish_services(folder: Path) -> Settings:
    """Publish them below a folder; only the security group may read the second."""
    staging = folder / "services"
    for name, text in (("cosmos-db", COSMOS), ("key-vault", VAULT)):
        (staging / name).mkdir(parents=True)
        (staging / name / "index.md").write_text(text)
    (staging / "key-vault/metadata.json").write_text('{"access_control_list": ["group-security"]}')
    settings = Settings(
        staging=str(staging), home=str(folder / "services-home"), embedder="hashing", chunk_min_tokens=24
    )
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    results = [build_article(settings, each, LAYER_NAMES, run) for each in ("cosmos-db", "key-vault")]
    assert not [each.error for each in results if each.error]
    publish(open_workspace(settings), results, LAYER_NAMES, run)
    return settings
