"""Pages of a listing, as the service writes them."""

from datetime import UTC, datetime

from kb_pipeline.store.azure_blob import BlobEntry, list_blobs, parse_page
from kb_pipeline_tests.azurite import Containers

PAGE = b"""<?xml version="1.0" encoding="utf-8"?>
<EnumerationResults ServiceEndpoint="https://contoso.blob.core.windows.net/" ContainerName="docs">
<Prefix>articles/</Prefix><Blobs>
<Blob><Name Encoded="true">articles%2Fa%01b%25.png</Name><Properties>
<Last-Modified>Sun, 22 Nov 2026 09:01:49 GMT</Last-Modified><Etag>0x8D</Etag><Content-Length>10</Content-Length>
</Properties><Metadata><Sha256>ff</Sha256></Metadata></Blob>
<Blob><Name>articles/img 100%25</Name><Properties>
<Last-Modified>Sun, 22 Nov 2026 09:01:50 GMT</Last-Modified><Etag>"0x8E"</Etag><Content-Length>0</Content-Length>
</Properties><Metadata><Hdi_isfolder>true</Hdi_isfolder></Metadata></Blob>
</Blobs><NextMarker /></EnumerationResults>"""


def test_a_page_is_read() -> None:
    first, second = parse_page(PAGE)
    at = datetime(2026, 11, 22, 9, 1, 49, tzinfo=UTC)
    assert first == BlobEntry("articles/a\x01b%.png", 10, "0x8D", at, {"sha256": "ff"})
    assert (second.name, second.etag, second.is_folder) == ("articles/img 100%25", "0x8E", True)


def test_all_pages_are_listed(containers: Containers) -> None:
    for number in range(5):
        containers.staging.upload_blob(f"a/{number}", bytes(number))
    containers.staging.upload_blob("ab", b"")
    listed = list(list_blobs(containers.staging, "a/", page_size=2))
    assert [(blob.name, blob.size) for blob in listed] == [(f"a/{number}", number) for number in range(5)]
    assert len({blob.etag for blob in listed}) == 5
