"""Cuts manuals to their first pages, so that all readers get the same file, with its outline and tags.

    python -m benchmarks.manuals.cut LIMIT TARGET FILE.pdf ...

Needs pikepdf, in the environment of the other readers. A file that cannot be opened is copied as it is.
"""

import shutil
import sys
from pathlib import Path

import pikepdf


def main() -> None:
    """Write each file to the target folder, or to the name behind its last ``=``."""
    limit, target = int(sys.argv[1]), Path(sys.argv[2])
    for given in sys.argv[3:]:
        file, _, name = given.rpartition("=")
        cut = target / name
        if cut.is_file():
            continue
        try:
            with pikepdf.open(file) as pdf:
                if len(pdf.pages) <= limit:
                    shutil.copyfile(file, cut)
                    continue
                del pdf.pages[limit:]
                pdf.save(cut)
        except pikepdf.PdfError:
            shutil.copyfile(file, cut)


if __name__ == "__main__":
    main()
