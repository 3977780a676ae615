"""Azure Blob Storage under the paths of staging and serving. Nothing else knows its SDK.

``place`` opens a URL of the settings; ``account`` signs in and explains refusals; ``files`` reads and writes;
``folder`` replaces what readers see, under a ``lease``.
"""

from kb_pipeline.blob.place import check_apart, remote_path

__all__ = ["check_apart", "remote_path"]
