"""What is deployed, read once: manifests, images, templates, and the settings that they may name."""

import re
from pathlib import Path

from app.settings import AppSettings
from kb_pipeline.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
INFRA = ROOT / "infra"
TEMPLATES = sorted(INFRA.rglob("*.bicep"))
DOCKERFILES = sorted(DEPLOY.glob("*.Dockerfile"))
SETTINGS = {f"KB_{name}".upper() for name in (*Settings.model_fields, *AppSettings.model_fields)}
OF_DEPLOYING = {"KB_POSTGRES_URL", "KB_CODE_SERVER_HOST", "KB_CODE_SERVER_PORT"}
"""Variables that are read by Dagster's configuration files, not by our code."""
SECRET_SETTINGS = {
    f"KB_{name}".upper()
    for model in (Settings, AppSettings)
    for name, field in model.model_fields.items()
    if "SecretStr" in str(field.annotation)
}


def pins(path: Path) -> set[str]:
    """``name==version`` of a lock file; of some packages several, for different versions of Python."""
    return set(re.findall(r"^([\w.-]+==[^ ]+)", path.read_text(), re.MULTILINE))
