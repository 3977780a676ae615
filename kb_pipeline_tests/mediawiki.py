"""A private MediaWiki for tests: made, started, filled, stopped, thrown away.

It listens on a free loopback port; its database and files lie in a temporary folder.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from kb_pipeline_tests.ports import free_port, wait_for

ADMIN, PASSWORD = "Admin", "admins-own-password"
_PLACES = (Path("/usr/share/mediawiki"), Path(__file__).parents[1] / ".venv" / "share" / "mediawiki")
_ROUTER = """<?php
if (!str_starts_with($_SERVER['REQUEST_URI'], '/images/')) return false;
$path = '%s/' . rawurldecode(substr(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), 8));
if (!is_file($path)) { http_response_code(404); return true; }
header('Content-Type: ' . mime_content_type($path));
header('Content-Length: ' . filesize($path));
readfile($path);
return true;
"""
_SETTINGS = """
$wgServer = '%s';
$wgEnableUploads = true; $wgUploadDirectory = '%s'; $wgUploadPath = '/images'; $wgUseImageMagick = false;
$wgFileExtensions[] = 'svg'; $wgJobRunRate = 0; $wgMainCacheType = CACHE_NONE; $wgRateLimits = [];
"""


def installed() -> Path | None:
    """Where MediaWiki is, if it and PHP are there."""
    return next((place for place in _PLACES if shutil.which("php") and (place / "api.php").exists()), None)


class Wiki:
    """A running MediaWiki, changed as its administrator does: by its API."""

    def __init__(self, place: Path, folder: Path, url: str) -> None:
        self._place = place
        self.url, self.images = url, folder / "images"
        self._local, self._log = folder / "LocalSettings.php", folder / "log"
        self._client = httpx.Client(base_url=url, timeout=120, trust_env=False)
        token = self._ask(meta="tokens", type="login", action="query")["query"]["tokens"]["logintoken"]
        done = self._ask(action="login", lgname=ADMIN, lgpassword=PASSWORD, lgtoken=token)
        assert done["login"]["result"] == "Success", done
        self._token = self._ask(meta="tokens", action="query")["query"]["tokens"]["csrftoken"]

    def close(self) -> None:
        self._client.close()

    def configure(self, php: str) -> None:
        """Add to the settings; what asks next meets them."""
        with self._local.open("a") as settings:
            settings.write(f"{php}\n")

    def put(self, title: str, text: str) -> None:
        """Write a page."""
        self._do(action="edit", title=title, text=text)

    def upload(self, name: str, data: bytes, description: str = "") -> None:
        """Upload a file, or another version of it."""
        fields = {"action": "upload", "filename": name, "text": description, "comment": "", "ignorewarnings": "1"}
        done = self._answer(self._client.post("/api.php", data=self._with_token(fields), files={"file": (name, data)}))
        assert done["upload"]["result"] == "Success", done

    def move(self, title: str, to: str, *, redirect: bool = True) -> None:
        self._do(action="move", **{"from": title}, to=to, **({} if redirect else {"noredirect": "1"}))

    def remove(self, title: str) -> None:
        self._do(action="delete", title=title)

    def requests(self) -> list[str]:
        """What the server was asked so far."""
        return [line for line in self._log.read_text().splitlines() if "] GET " in line or "] POST " in line]

    def run_jobs(self) -> None:
        """Let the wiki notice what its changes mean for other pages."""
        self._run("maintenance/runJobs.php")
        time.sleep(1 - time.time() % 1)  # it tells changes apart by their second

    def bot_password(self) -> tuple[str, str]:
        """The name and password of a new bot of the administrator that may only read."""
        said = self._run("maintenance/createBotPassword.php", "--appid", "kb", "--grants", "basic", ADMIN)
        return f"{ADMIN}@kb", said.split("password:'")[1].split("'")[0]

    def _run(self, script: str, *arguments: str) -> str:
        environment = {**os.environ, "MW_CONFIG_FILE": str(self._local)}
        command = ["php", str(self._place / script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def _do(self, **fields: str) -> None:
        self._answer(self._client.post("/api.php", data=self._with_token(fields)))

    def _with_token(self, fields: dict[str, str]) -> dict[str, str]:
        return {**fields, "format": "json", "formatversion": "2", "token": self._token}

    def _ask(self, **fields: str) -> Any:
        data = {**fields, "format": "json", "formatversion": "2"}
        return self._answer(self._client.post("/api.php", data=data))

    @staticmethod
    def _answer(response: httpx.Response) -> Any:
        response.raise_for_status()
        answer = response.json()
        assert "error" not in answer, answer
        return answer


def make_wiki(folder: Path) -> None:
    """Make a wiki with its main page only, which copies can be run of."""
    place = installed()
    assert place, "there is no MediaWiki; scripts/mediawiki.sh installs it"
    for name in ("data", "images"):
        (folder / name).mkdir(parents=True)
    command = ["php", str(place / "maintenance" / "install.php"), "--confpath", str(folder), "--dbtype", "sqlite",
               "--dbpath", str(folder / "data"), "--dbname", "wiki", "--server", "http://127.0.0.1", "--scriptpath", "",
               "--pass", PASSWORD, "Test", ADMIN]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_wiki(made: Path, folder: Path) -> Iterator[Wiki]:
    """Run a copy of a wiki, and leave what becomes of it in ``folder``."""
    place = installed()
    assert place
    shutil.copytree(made, folder)
    url = f"http://127.0.0.1:{free_port()}"
    local = folder / "LocalSettings.php"
    local.write_text(local.read_text().replace(str(made), str(folder)) + _SETTINGS % (url, folder / "images"))
    (folder / "router.php").write_text(_ROUTER % (folder / "images"))
    environment = {**os.environ, "MW_CONFIG_FILE": str(local), "PHP_CLI_SERVER_WORKERS": "4"}
    options = ("upload_max_filesize=20M", "post_max_size=20M", "opcache.revalidate_freq=0")
    command = ["php", *(f"-d{option}" for option in options), "-S", url.removeprefix("http://"), "-t", str(place)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, str(folder / "router.php")], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_for(f"{url}/api.php", server, 60)
            with closing(Wiki(place, folder, url)) as wiki:
                yield wiki
        finally:
            os.killpg(server.pid, signal.SIGKILL)  # its workers as well
            server.wait()
