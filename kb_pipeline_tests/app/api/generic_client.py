"""A client as agent platforms have one: it knows nothing but an OpenAPI document."""

from typing import Any

import httpx
import jsonschema


class GenericClient:
    """Makes tools of an OpenAPI document, knowing nothing of what it describes."""

    def __init__(self, described: dict[str, Any], http: httpx.Client) -> None:
        self._http, self._described = http, described
        server = described["servers"][0]["url"]
        self.tools: dict[str, dict[str, Any]] = {}
        self._places: dict[str, tuple[str, str]] = {}
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                body = operation["requestBody"]["content"]["application/json"]["schema"]
                name = operation["operationId"]
                self.tools[name] = {"description": operation["description"], "parameters": self._resolved(body)}
                self._places[name] = (method, f"{server}{path}")

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        jsonschema.validate(arguments, self.tools[name]["parameters"])
        method, url = self._places[name]
        answer: dict[str, Any] = self._http.request(method, url, json=arguments).raise_for_status().json()
        return answer

    def _resolved(self, schema: Any) -> Any:
        if isinstance(schema, dict) and "$ref" in schema:
            return self._resolved(self._described["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        if isinstance(schema, dict):
            return {name: self._resolved(each) for name, each in schema.items()}
        return schema
