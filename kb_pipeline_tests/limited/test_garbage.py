import subprocess
import sys

PROGRAM = """
import atexit, gc
atexit.register(lambda: print("kept at the end:", gc.get_freeze_count() > 1000))
from kb_pipeline.limited.garbage import collect_seldom
collect_seldom()
print("new objects before a collection:", gc.get_threshold()[0])
"""


def test_a_short_process_collects_seldom_and_not_at_its_end() -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["new objects before a collection: 10000", "kept at the end: True"]
