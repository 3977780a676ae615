"""A picture that somebody asks with: read and made small, and refused by name if it is anything else."""

import asyncio
import base64
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator

import pytest
from PIL import Image

from app.callers import picture
from app.callers.picture import MOST_KEPT_BYTES, Picture, PictureReader, bytes_of, read_picture
from app.errors import BadQuestionError
from kb_pipeline.errors import ImageError
from kb_pipeline.limited.process import ProcessLimits
from kb_pipeline_tests.pictures import encode, screenshot

pytestmark = pytest.mark.slow("reads text on pictures")

DIALOG = screenshot("Error 410", "The endpoint is gone.", size=(320, 110))


def data_url(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


Read = Callable[[bytes], Picture]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    reader = PictureReader()
    yield lambda data: asyncio.run(reader.read(data))
    reader.close()


def test_the_text_on_a_picture_is_read(read: Read) -> None:
    found = read(DIALOG)
    assert (found.media_type, found.width, found.height) == ("image/png", 320, 110)
    assert "Error 410" in found.text and "endpoint is gone" in found.text


def test_a_picture_without_text_says_nothing() -> None:
    assert read_picture(encode(Image.new("RGB", (300, 200), "navy"))).text == ""


@pytest.mark.parametrize(("form", "as_large"), [("PNG", {}), ("JPEG", {"quality": 100}), ("WEBP", {"lossless": True})])
def test_what_is_kept_fits_into_a_document_of_any_store(form: str, as_large: dict[str, object]) -> None:
    noise = encode(Image.frombytes("RGB", (1100, 600), os.urandom(1100 * 600 * 3)), form, **as_large)
    assert len(noise) > MOST_KEPT_BYTES
    found = read_picture(noise)
    assert len(found.data) <= MOST_KEPT_BYTES and (found.width, found.height) == (1100, 600)
    assert f"image/{Image.open(io.BytesIO(found.data)).format}".lower() == found.media_type


def test_nothing_that_a_camera_wrote_is_kept() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Zebulon's phone"
    found = read_picture(encode(Image.new("RGB", (400, 300), "white"), "JPEG", exif=exif))
    assert b"Zebulon" not in found.data


def _said_to_be(width: int, height: int) -> bytes:
    """A small PNG whose header names this size in pixels."""
    header = b"IHDR" + struct.pack(">II", width, height) + DIALOG[24:29]
    return DIALOG[:12] + header + struct.pack(">I", zlib.crc32(header)) + DIALOG[33:]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (encode(Image.new("RGB", (40, 40)), "GIF"), "it is GIF"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "it is SVG"),
        (DIALOG[:300], "truncated"),
        (b"GIF89a, honestly", "not an image"),
        (b"%PDF-1.7", "not an image"),
        (_said_to_be(20_000, 20_000), "megapixels"),
    ],
)
def test_whatever_is_no_picture_is_refused_by_name(data: bytes, reason: str, read: Read) -> None:
    with pytest.raises(ImageError, match=reason):
        read_picture(data)
    with pytest.raises(BadQuestionError, match=rf"cannot be read: .*{reason}.*send a PNG, JPEG or WebP"):
        read(data)


def _crash(_: bytes) -> Picture:
    os._exit(1)


def _hang(_: bytes) -> Picture:
    while True:
        pass


@pytest.mark.parametrize(("happens", "said"), [(_crash, "crashed"), (_hang, "took longer than 0.2 s")])
def test_a_picture_that_ends_or_stops_its_process_fails_alone(
    happens: Callable[[bytes], Picture], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "_LIMITS", ProcessLimits(0.2, 1500.0))

    async def run() -> None:
        reader = PictureReader()
        with monkeypatch.context() as bad:
            bad.setattr(picture, "read_picture", happens)
            with pytest.raises(BadQuestionError, match=said):
                await reader.read(DIALOG)
        monkeypatch.setattr(picture, "_LIMITS", ProcessLimits(60.0, 1500.0))
        assert "410" in (await reader.read(DIALOG)).text
        reader.close()

    asyncio.run(run())


def test_its_process_ends_when_nobody_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "_IDLE_SECONDS", 0.0)

    async def run() -> object:
        reader = PictureReader()
        await reader.read(screenshot("OK", size=(60, 40)))
        await asyncio.sleep(0.01)
        child = reader._process._child
        reader.close()
        return child

    assert asyncio.run(run()) is None


def test_the_bytes_of_a_data_url() -> None:
    assert bytes_of(data_url(DIALOG), len(DIALOG)) == DIALOG
    assert bytes_of(data_url(DIALOG, "JPEG").replace("data:", "DATA:"), len(DIALOG)) == DIALOG


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://evil.example/x.png", "addresses are not fetched"),
        ("http://169.254.169.254/latest", "addresses are not fetched"),
        ("file:///etc/passwd", "addresses are not fetched"),
        ("/api/responses/caresp_1/picture", "addresses are not fetched"),
        ("data:text/html;base64,PGI+", "addresses are not fetched"),
        ("data:image/png,abc", "addresses are not fetched"),
        ("data:image/png;base64,", "empty"),
        ("data:image/png;base64,a", "base64"),
        ("data:image/png;base64,\ud800é", "base64"),
        (data_url(bytes(101)), r"101 bytes, the limit is 100 \(KB_PICTURE_BYTES\)"),
    ],
)
def test_any_other_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(BadQuestionError, match=reason):
        bytes_of(url, 100)
