"""What ``intake.yaml`` says of a website."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from kb_pipeline.intake.base import Options
from kb_pipeline.intake.website.addresses import whole


def _web_address(value: str) -> str:
    if not (address := whole(value)):
        raise ValueError("it is not a web address (https://...) without user name and password")
    return address


_Address = Annotated[str, AfterValidator(_web_address)]


class WebsiteOptions(Options):
    """Take in the pages of a website below an address, as robots.txt allows, and follow their changes."""

    kind: Literal["website"] = "website"
    url: _Address = Field(description="Where it begins; all below it is taken in: https://docs.example.org/guide/")
    documents: bool = Field(False, description="Also the documents of the site that its pages lead to.")
    sitemaps: tuple[_Address, ...] | None = Field(
        None, description="Addresses of sitemaps; default: those that robots.txt names, or sitemap.xml; []: none."
    )
    pictures_from: tuple[_Address, ...] = Field(
        (), description="Other hosts whose pictures are taken: https://cdn.example.org"
    )
    rate: float = Field(5, gt=0, le=10_000, description="Most requests in a second.")
    most_pages: int = Field(50_000, gt=0, description="A site with more pages is not taken in.")
    allow_private: bool = Field(False, description="The site may be on this machine or in a private network.")

    @field_validator("pictures_from")
    @classmethod
    def _are_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        hosts = map(urlsplit, value)
        return tuple(f"{each.scheme}://{each.netloc}" for each in hosts)
