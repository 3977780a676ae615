"""Documents whose folders are on Blob Storage, from staging to the page of the original that a citation opens."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import httpx
import pytest
from azure.storage.blob import ContainerSasPermissions, generate_container_sas
from PIL import Image
from pydantic import SecretStr

from app.grounding.page_pictures import quote_id
from app.settings import AppSettings
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import write_bytes
from kb_pipeline_tests.app.api.conftest import serving
from kb_pipeline_tests.app.library.originals.pdfs import pdf_of
from kb_pipeline_tests.azurite import KEY, NAME, Containers
from kb_pipeline_tests.conditions import errors, ingest

JAM = "Open the rear tray and pull the paper out slowly to clear a paper jam."
GUIDE = pdf_of(["Printing", "The printer prints on both sides of the paper."], ["Paper jams", JAM])
SALARIES = pdf_of(["Salaries", "The salary of a paper maker is paid on Mondays."])


@pytest.fixture(params=["connection string", "shared access signature"])
def place(request: pytest.FixtureRequest, containers: Containers, settings: Settings) -> Settings:
    """Staging and serving on Blob Storage; staging may only be read where it is reached by a signature."""
    here = settings.model_copy(update={"engine": "kb_pipeline_tests.doubles:WorkersHere"})
    both = containers.settings(here)
    folder = open_workspace(both).staging.root
    write_bytes(folder / "User guide.pdf", GUIDE)
    write_bytes(folder / "User guide.pdf.metadata.json", b'{"document_type": "Manual"}')
    write_bytes(folder / "salaries" / "salaries.pdf", SALARIES)
    write_bytes(folder / "salaries" / "metadata.json", b'{"access_control_list": ["group-hr"]}')
    if request.param == "connection string":
        return both
    signature = generate_container_sas(
        NAME,
        containers.staging.container_name,
        account_key=KEY,
        permission=ContainerSasPermissions(read=True, list=True),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )
    url = containers.staging.url.partition("?")[0].rpartition("/")[0]
    signed = f"BlobEndpoint={url};SharedAccessSignature={signature}"
    return both.model_copy(update={"staging_connection_string": SecretStr(signed)})


@pytest.mark.slow("asks Azurite")
def test_the_answer_to_a_question_opens_the_page_of_the_original_that_lies_on_blob_storage(place: Settings) -> None:
    assert errors(ingest(place)) == {}

    with serving(AppSettings(), place) as url, httpx.Client(base_url=url, timeout=30) as client:
        answer = client.post("/chat", json={"question": "How do I clear a paper jam?"}).json()
        cited = next(each for each in answer["citations"] if each["used"])
        assert (cited["article_id"], cited["filename"], cited["answer_page"]) == ("User guide.pdf", "User guide.pdf", 2)
        assert JAM in cited["quotes"]

        address, _, place_in_it = cited["document_url"].partition("#")
        assert place_in_it == "page=2"
        assert client.get(address).content == GUIDE
        assert client.get(address, headers={"range": "bytes=0-3"}).content == b"%PDF"

        marks = {"chunk": cited["chunk_id"], "quote": quote_id(JAM), "width": 500}
        picture = client.get("/api/documents/User guide.pdf/pages/2.png", params=marks)
        assert picture.headers["kb-marked"] == "1/1"
        assert Image.open(BytesIO(picture.content)).width == 500

        facts = client.get("/api/documents/User guide.pdf").json()
        assert (facts["document_type"], facts["page_count"]) == ("Manual", 2)
        assert client.get("/api/documents/salaries/salaries.pdf").status_code == 404
        assert client.get("/api/documents/salaries/pages/1.png").status_code == 404
