"""A fake of a service that describes images and bills each call: deterministic, and instant but for a set latency.

Select it with ``KB_ANALYZER=benchmarks.paid:FakePaidAnalyzer``. Never use it for a knowledge base that people read.
"""

import os
import time
from typing import ClassVar

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.records import ImageDescription, Usage
from kb_pipeline.services.usage import record_usage
from kb_pipeline.steps.fingerprint import sha256

ANALYZER = "benchmarks.paid:FakePaidAnalyzer"
LEDGER = "BENCHMARK_LEDGER"
"""Names the file that has a line for every answer that was delivered: the hash of the image."""
LATENCY = "BENCHMARK_LATENCY"
"""Seconds until an answer, as they pass while a service is asked."""
MODEL = "fake-vision-1"

_OPENED = os.O_WRONLY | os.O_APPEND | os.O_CREAT


class FakePaidAnalyzer(LocalAnalyzer):
    """Converts as ``local`` does; its descriptions are made up."""

    name: ClassVar[str] = "fake-paid"
    image_model: ClassVar[str] = MODEL
    prompt_version: ClassVar[str] = "1"
    describe_pool: ClassVar[str] = "fake-vision"

    def describe(self, png: bytes) -> ImageDescription:
        """Wait, bill the call, and return a made-up description."""
        time.sleep(float(os.environ.get(LATENCY, "0")))
        image = sha256(png)
        _bill(image)
        record_usage(Usage(model=MODEL, calls=1, input_tokens=1000, output_tokens=len(image)))
        return ImageDescription(
            description=f"A window whose picture begins with {image[:12]}.", ui_elements=(f"Button {image[:6]}",)
        )


def _bill(image: str) -> None:
    if path := os.environ.get(LEDGER):
        # one write to a file opened for appending is never mixed with another process's
        ledger = os.open(path, _OPENED, 0o644)
        try:
            os.write(ledger, f"{image}\n".encode())
        finally:
            os.close(ledger)
