"""What tests run in processes of their own, one of which is killed.

``python -m kb_pipeline_tests.store.azure.writers COUNT`` ingests what ``KB_*`` says and is gone after so many
writes to Blob Storage, without any clean-up.
"""

import os
import signal
import sys
import time
from random import Random

from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store import serving
from kb_pipeline.store.azure_blob import BlobFiles
from kb_pipeline_tests.conditions import errors, ingest


def ingest_slowly(settings: Settings, run_id: str, seed: int) -> dict[str, str]:
    """Ingest with random pauses around every write, so that two who do so get in each other's way."""
    dice, write = Random(seed), BlobFiles.pipe_file

    def slow(*arguments, **options) -> None:
        time.sleep(dice.uniform(0, 0.05))
        write(*arguments, **options)
        time.sleep(dice.uniform(0, 0.05))

    BlobFiles.pipe_file = slow
    try:
        return errors(ingest(settings, run_id))
    finally:
        BlobFiles.pipe_file = write


def main(left: int) -> None:
    write = BlobFiles.pipe_file

    def last(*arguments, **options) -> None:
        nonlocal left
        write(*arguments, **options)
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    serving.SECONDS, BlobFiles.pipe_file = 15, last
    print(errors(ingest(load_settings(), "killed")))


if __name__ == "__main__":
    main(int(sys.argv[1]))
