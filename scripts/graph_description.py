"""Makes the description of Microsoft Graph that the tests hold the source ``sharepoint`` to.

Microsoft generates its SDK from its description of Graph, so the SDK's code says which paths there are, what may be
asked of them, and the type of each field. Get the SDK, which is not installed, and say where it lies::

    pip download msgraph-sdk==1.65.0 --no-deps -d /tmp/sdk && unzip -q -d /tmp/sdk /tmp/sdk/msgraph_sdk-*.whl
    python scripts/graph_description.py /tmp/sdk > kb_pipeline_tests/specs/graph-1.0.from-sdk-1.65.0.openapi.json

Only what is asked is kept of it. What it does not name is refused.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

PATHS = {
    "sites/item/site_item_request_builder.py": "Site",
    "sites/item/drives/drives_request_builder.py": "[Drive]",
    "sites/item/lists/lists_request_builder.py": "[List_]",
    "sites/item/lists/item/drive/drive_request_builder.py": "Drive",
    "sites/item/pages/graph_site_page/graph_site_page_request_builder.py": "[SitePage]",
    "sites/item/pages/item/graph_site_page/graph_site_page_request_builder.py": "SitePage",
    "drives/item/items/item/delta/delta_request_builder.py": "[DriveItem]",
    "drives/item/items/item/permissions/permissions_request_builder.py": "[Permission]",
    "drives/item/items/item/content/content_request_builder.py": "",
}
"""What is asked, and the type of its answer; [] around it for a listing, "" for the content of a file."""
VERSION = "/v1.0"
BY_ADDRESS = f"{VERSION}/sites/{{hostname}}:/sites/{{name}}"
"""How a site is found by its address, which the SDK has no builder for:
https://learn.microsoft.com/graph/api/site-getbypath"""
KEPT = {
    "Site": "id displayName name webUrl",
    "Drive": "id name webUrl driveType",
    "List_": "id name displayName webUrl list system",
    "ListInfo": "template hidden contentTypesEnabled",
    "SystemFacet": "",
    "DriveItem": "id name eTag cTag size webUrl lastModifiedBy lastModifiedDateTime parentReference file folder root "
    "deleted package remoteItem malware publication",
    "RemoteItem": "id name",
    "SitePage": "id name title webUrl eTag lastModifiedBy lastModifiedDateTime publishingState canvasLayout",
    "Permission": "id roles link expirationDateTime grantedToV2 grantedToIdentitiesV2 inheritedFrom hasPassword",
    "TextWebPart": "id innerHtml",
    "StandardWebPart": "id webPartType data containerTextWebPartId",
    "FileSystemInfo": "",
    "FolderView": "",
    "IdentitySet": "user application device",
}
"""The fields of these types that are kept; of others, all."""
WEB_PARTS = ("TextWebPart", "StandardWebPart")
_FIELD = re.compile(r'"([@\w.]+)": lambda n : setattr\(self, \'\w+\', n\.get_(\w+)\(([\w.]*)\)\)')
_CLASS = re.compile(r"^class (\w+)\((?:(\w+), )?", re.MULTILINE)
_ENUM = re.compile(r'^    \w+ = "(\w+)",', re.MULTILINE)
_SIMPLE: dict[str, dict[str, Any]] = {
    "str_value": {"type": "string"},
    "bool_value": {"type": "boolean"},
    "int_value": {"type": "integer"},
    "float_value": {"type": "number"},
    "datetime_value": {"type": "string", "format": "date-time"},
    "uuid_value": {"type": "string", "format": "uuid"},
    "bytes_value": {"type": "string"},
    "collection_of_primitive_values": {"type": "array", "items": {"type": "string"}},
}
_LINKS = ("@odata.context", "@odata.nextLink", "@odata.deltaLink")


class Description:
    """The types that were needed so far."""

    def __init__(self, sdk: Path) -> None:
        self._sdk = sdk / "msgraph/generated"
        self.types: dict[str, Any] = {}

    def paths(self) -> dict[str, Any]:
        """Everything that is asked."""
        found = {}
        for builder, answer in PATHS.items():
            path, operation = self._operation(builder, answer)
            found[f"{VERSION}{path}"] = operation
            if answer == "Site":
                found[BY_ADDRESS] = {"get": {**operation["get"], "parameters": _in_path("hostname", "name")}}
        return found

    def _operation(self, builder: str, answer: str) -> tuple[str, Any]:
        template = re.search(r'"\{\+baseurl\}([^"]*)"', (self._sdk / builder).read_text())
        if template is None:
            raise ValueError(f"{builder} asks for nothing")
        path, _, query = template[1].replace("%2D", "-").replace("%24", "$").partition("{?")
        asked = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in query.rstrip("*}").split(",")]
        if "/delta" in path:  # where its answers lead
            asked += [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("token", "$skiptoken")]
        parameters = [*_in_path(*re.findall(r"\{([^}]+)\}", path)), *asked]
        return path, {"get": {"parameters": parameters, "responses": {"200": self._response(answer)}}}

    def _response(self, answer: str) -> dict[str, Any]:
        if not answer:  # it leads to where the file is, and the proxy follows
            return {"description": ""}
        kind = self._reference(answer.strip("[]"))
        if answer.startswith("["):
            links = {name: {"type": "string"} for name in _LINKS}
            listed = {"value": {"type": "array", "items": kind}, **links}
            kind = {"type": "object", "properties": listed, "required": ["value"], "additionalProperties": False}
        return {"description": "", "content": {"application/json": {"schema": kind}}}

    def _reference(self, name: str) -> dict[str, Any]:
        if name not in self.types:
            self.types[name] = {}
            self.types[name] = self._type(name)
        return {"$ref": f"#/components/schemas/{name}"}

    def _type(self, name: str) -> dict[str, Any]:
        if name == "WebPart":
            return {"anyOf": [self._reference(each) for each in WEB_PARTS]}
        code = self._code(name)
        if values := _ENUM.findall(code):
            return {"type": "string", "enum": values}
        fields, kept = self._fields(name), KEPT.get(name)
        chosen = fields if kept is None else {field: fields[field] for field in kept.split()}
        properties = {field: self._field(kind, of) for field, (kind, of) in chosen.items()}
        properties |= {"@odata.type": {"type": "string"}, "@odata.context": {"type": "string"}}
        if name == "WebPartData":  # any JSON, which the SDK leaves to whoever asks
            properties["properties"] = {"type": "object"}
        return {"type": "object", "properties": dict(sorted(properties.items())), "additionalProperties": False}

    def _fields(self, name: str) -> dict[str, tuple[str, str]]:
        code = self._code(name)
        declared = _CLASS.search(code)
        above = declared[2] if declared and declared[2] else ""
        is_ours = above and above not in ("AdditionalDataHolder", "BackedModel", "Parsable")
        fields = self._fields(above) if is_ours else {}
        return fields | {field: (kind, of) for field, kind, of in _FIELD.findall(code)}

    def _field(self, kind: str, of: str) -> dict[str, Any]:
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        found = self._reference(of)
        return {"type": "array", "items": found} if kind.startswith("collection") else found

    def _code(self, name: str) -> str:
        file = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        return (self._sdk / f"models/{file}.py").read_text()


def _in_path(*names: str) -> list[dict[str, Any]]:
    # of any type: the ids of sites hold commas, which the proxy takes for those of a list
    return [{"name": name, "in": "path", "required": True, "schema": {}} for name in names]


if __name__ == "__main__":
    description = Description(Path(sys.argv[1]))
    asked = description.paths()
    schemas = dict(sorted(description.types.items()))
    info = {"title": "Microsoft Graph, what the source sharepoint asks of it", "version": "1.0"}
    whole = {"openapi": "3.0.3", "info": info, "paths": asked, "components": {"schemas": schemas}}
    print(json.dumps(whole, indent=1, sort_keys=True))
