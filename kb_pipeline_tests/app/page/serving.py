"""The real service and the real page on loopback, to be started, stopped and started again."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from unittest.mock import patch

from starlette.responses import Response, StreamingResponse

from app.api.server import create_app
from app.page import page_command
from app.settings import load_app_settings
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.app.model_servers import chunk
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.ports import free_port, wait_for

ROOT = Path(__file__).parents[3]
START_SECONDS = 120  # the first start compiles everything that is imported


class Place:
    """A knowledge base of its own, and the ports that its service and its page are on."""

    def __init__(self, knowledge_base: Settings, folder: Path, **settings: str) -> None:
        shutil.copytree(knowledge_base.home, folder / "home")
        self.service_port, self.page_port = free_port(), free_port()
        self.service_url = f"http://127.0.0.1:{self.service_port}"
        self.page_url = f"http://127.0.0.1:{self.page_port}"
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "STREAMLIT_"))}
        self.environment = clean | {
            "KB_HOME": str(folder / "home"),
            "KB_STAGING": knowledge_base.staging,
            "KB_SCENARIOS": str(folder / "scenarios"),  # not the samples beside the code, which have a network
            "KB_EMBEDDER": knowledge_base.embedder,
            "KB_APP_PORT": str(self.service_port),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            **settings,
        }
        self._folder = folder

    @contextmanager
    def service(self) -> Iterator[str]:
        """The agent service in this process, which has loaded all that it needs; gives its URL."""
        with patch.dict(os.environ, self.environment, clear=True):
            app = create_app(load_app_settings(), load_settings())
        with serving_app(app, self.service_port) as url:
            yield url

    @contextmanager
    def service_process(self) -> Iterator[str]:
        """The agent service as the process that its command starts, with its own logs and telemetry; gives its URL."""
        with self._process(["app"], f"{self.service_url}/health"):
            yield self.service_url

    @contextmanager
    def page(self) -> Iterator[str]:
        """The chat page, a process, since Streamlit serves one page in each; gives its URL."""
        with self._process(page_command(self.page_port), f"{self.page_url}/_stcore/health"):
            yield self.page_url

    @contextmanager
    def _process(self, command: list[str], sign: str) -> Iterator[None]:
        # from a folder that has nothing of ours, as the page of an installed wheel runs
        process = subprocess.Popen([sys.executable, "-m", *command], env=self.environment, cwd=self._folder)
        try:
            wait_for(sign, process, START_SECONDS)
            yield
        finally:
            process.terminate()
            process.wait(60)


class SlowModel:
    """A chat model that says one sentence with a picture at once, and then goes on word by word until told to end."""

    def __init__(self, *first: str) -> None:
        self.first = first
        self.go_on, self.left = Event(), Event()

    def __call__(self, *_: object) -> Response:
        self.left.clear()
        return StreamingResponse(self._words(), media_type="text/event-stream")

    async def _words(self) -> AsyncIterator[str]:
        try:
            for text in self.first:
                yield chunk(text)
            while not self.go_on.is_set():
                yield chunk("more more more\n")
                await asyncio.sleep(0.05)
            yield chunk("and the end.")
            yield chunk(finish="stop")
            yield "data: [DONE]\n\n"
        finally:
            self.left.set()
