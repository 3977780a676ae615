"""A stand-in for an Azure Cosmos DB account for Gremlin: its protocol, its refusals, and a graph in memory.

It speaks GraphSON 2 over a WebSocket, asks for a key, and answers in parts. On demand it is busy, silent, or gone.
It knows the steps that the adapter sends and a few more; what Gremlin means is shown by a real server (see
``scripts/gremlin_server.sh``). Its ids are those of one partition, its steps without the cost of request units.
"""

import asyncio
import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from kb_pipeline.network.cosmos.gremlin_gate import Argument, Call, Chain, PlainWord, QuotedText, parse

KEY = "dGhlIGtleSBvZiBhIGdyYXBo"
USER = "/dbs/networkgraph/colls/topology"
_VARIABLE = re.compile(r"(?<=[(, ])([silftvn]|p\d+)(?=[,)])")
_PART = 64
_MODULATORS = {"repeat": ("emit", "times"), "order": ("by",), "path": ("by",), "addE": ("to",)}


@dataclass
class Element:
    """A vertex, or an edge with two ends."""

    id: str
    label: str
    properties: dict[str, Any] = field(default_factory=dict)
    source: "Element | None" = None
    target: "Element | None" = None


@dataclass(frozen=True)
class Trouble:
    """What the server does instead of answering: a status with attributes, or what its name says."""

    kind: str = "status"
    status: int = 500
    attributes: dict[str, Any] = field(default_factory=dict)
    message: str = "trouble"


@dataclass
class GremlinServer:
    """A running server. ``troubles`` happen one after the other; ``queries`` are all that arrived.

    ``ended`` counts the connections that have ended.
    """

    endpoint: str = ""
    queries: list[str] = field(default_factory=list)
    connections: int = 0
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    troubles: list[Trouble] = field(default_factory=list)
    vertices: dict[str, Element] = field(default_factory=dict)
    edges: dict[str, Element] = field(default_factory=dict)
    on_query: Callable[[str], None] = lambda query: None

    def answer(self, query: str, bindings: dict[str, Any]) -> list[Any]:
        """The results of a query."""
        chain = parse(_VARIABLE.sub(r"'@\1'", query))
        return [self._shown(each[-1]) for each in self._walk([()], chain.calls, bindings)]

    def _walk(
        self, ways: list[tuple[Any, ...]], calls: tuple[Call, ...], given: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        place = 0
        while place < len(calls):
            call = calls[place]
            place += 1
            modulators = []
            while place < len(calls) and calls[place].name in _MODULATORS.get(call.name, ()):
                modulators.append(calls[place])
                place += 1
            ways = self._step(ways, call, modulators, given)
        return ways

    def _step(
        self, ways: list[tuple[Any, ...]], call: Call, modulators: list[Call], given: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        values = [self._value(each, given) for each in call.arguments]
        match call.name:
            case "V" | "E":
                there = self.vertices if call.name == "V" else self.edges
                found = [there[each] for each in values if each in there] if values else list(there.values())
                return [(*way, each) for way in ways for each in found]
            case "has" | "hasId" | "hasLabel":
                name = {"hasId": "id", "hasLabel": "label"}.get(call.name) or values.pop(0)
                return [way for way in ways if any(_holds(_property(way[-1], name), each) for each in values)]
            case "in" | "out" | "inE" | "outE":
                return [(*way, each) for way in ways for each in self._adjacent(way[-1], call.name, values)]
            case "simplePath":
                return [way for way in ways if len({id(each) for each in way}) == len(way)]
            case "dedup":
                return list({id(way[-1]): way for way in reversed(ways)}.values())[::-1]
            case "where":
                return [way for way in ways if self._walk([way], _chain(call.arguments[0]).calls, given)]
            case "repeat":
                return self._repeated(ways, _chain(call.arguments[0]), modulators, given)
            case "fold":
                return [([way[-1] for way in ways],)]
            case "unfold":
                return [(each,) for way in ways for each in way[-1]]
            case "coalesce":
                return [way for start in ways for way in next(filter(None, (
                    self._walk([start], _chain(each).calls, given) for each in call.arguments)), [])]  # fmt: skip
            case "addV":
                return [(Element("", values[0]),) for _ in ways]
            case "addE":
                (to,) = modulators
                (target,) = self._walk([()], _chain(to.arguments[0]).calls, given)
                return [(Element("", values[0], source=way[-1], target=target[-1]),) for way in ways]
            case "property":
                for way in ways:
                    self._write(way[-1], *values)
                return ways
            case "drop":
                for way in ways:
                    self._drop(way[-1])
                return []
            case "limit":
                return ways[: values[0]]
            case "count":
                return [(len(ways),)]
            case "id":
                return [(*way, way[-1].id) for way in ways]
            case "values":
                return [
                    (*way, way[-1].properties[name]) for way in ways for name in values if name in way[-1].properties
                ]
            case "valueMap":
                return [({"id": e.id, "label": e.label, **{name: [value] if e.source is None else value
                          for name, value in e.properties.items()}},) for (*_, e) in ways]  # fmt: skip
            case "path":
                return [({"labels": [[] for _ in way], "objects": [each.id if modulators else self._shown(each)
                          for each in way]},) for way in ways]  # fmt: skip
            case "order":
                return sorted(ways, key=lambda way: way[-1].id)
        raise KeyError(call.name)

    def _repeated(
        self, ways: list[tuple[Any, ...]], body: Chain, modulators: list[Call], given: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        (times,) = [self._value(each.arguments[0], given) for each in modulators if each.name == "times"]
        emitted: list[tuple[Any, ...]] = []
        for _ in range(times):
            ways = self._walk(ways, body.calls, given)
            emitted += ways
        return emitted if any(each.name == "emit" for each in modulators) else ways

    def _adjacent(self, vertex: Element, step: str, labels: list[str]) -> list[Element]:
        inwards = step.startswith("in")
        edges = [each for each in self.edges.values() if (each.target if inwards else each.source) is vertex
                 and (not labels or each.label in labels)]  # fmt: skip
        if step.endswith("E"):
            return edges
        return [end for each in edges if (end := each.source if inwards else each.target)]

    def _write(self, element: Element, name: str, value: Any) -> None:
        if name == "id":
            element.id = value
            (self.vertices if element.source is None else self.edges)[value] = element
        element.properties |= {} if name == "id" else {name: value}

    def _drop(self, element: Element) -> None:
        self.vertices.pop(element.id, None)
        self.edges = {name: e for name, e in self.edges.items() if element not in (e, e.source, e.target)}

    @staticmethod
    def _value(argument: Argument, given: dict[str, Any]) -> Any:
        if isinstance(argument, QuotedText):
            return given[argument.value[1:]] if argument.value.startswith("@") else argument.value
        if isinstance(argument, PlainWord):
            return int(argument.value) if argument.value.isdigit() else argument.value
        return argument

    @staticmethod
    def _shown(value: Any) -> Any:
        """As Azure writes an element: without types, the properties of a vertex as lists with ids."""
        if not isinstance(value, Element):
            return value
        if value.source and value.target:
            ends = {"inV": value.target.id, "outV": value.source.id}
            return {"id": value.id, "label": value.label, "type": "edge", **ends, "properties": value.properties}
        held = {name: [{"id": f"{value.id}|{name}", "value": each}] for name, each in value.properties.items()}
        return {"id": value.id, "label": value.label, "type": "vertex", "properties": held}


def _chain(argument: Argument) -> Chain:
    assert isinstance(argument, Chain)
    return argument


def _property(element: Element, name: str) -> Any:
    return getattr(element, name) if name in ("id", "label") else element.properties.get(name)


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Chain):
        (call,) = wanted.calls
        assert call.name == "within"
        return value in [each.value for each in call.arguments if isinstance(each, QuotedText)]
    return bool(value == wanted)


@contextmanager
def running_gremlin_server() -> Iterator[GremlinServer]:
    """Serve a graph on a free port of loopback until the end of the block."""
    server, loop = GremlinServer(), asyncio.new_event_loop()
    started = threading.Event()

    async def serve() -> None:
        application = web.Application()
        application.router.add_get("/", lambda request: _serve(server, request))
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.endpoint = f"ws://127.0.0.1:{runner.addresses[0][1]}/"
        started.set()
        await ended.wait()
        await runner.cleanup()

    ended = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert started.wait(60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()


async def _serve(server: GremlinServer, request: web.Request) -> web.StreamResponse:
    server.connections += 1
    if server.troubles and server.troubles[0].kind == "handshake":
        return web.Response(status=server.troubles.pop(0).status)
    try:
        return await _talk(server, request)
    finally:
        server.ended.release()


async def _talk(server: GremlinServer, request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    signed_in, asked = False, {}
    async for message in socket:
        if message.type != WSMsgType.BINARY:
            break
        mime, _, body = message.data[1:].partition(b"{")
        assert (message.data[0], mime) == (0x21, b"application/vnd.gremlin-v2.0+json")
        frame = json.loads(b"{" + body)
        request_id = frame["requestId"]["@value"]
        if frame["op"] == "authentication":
            _, user, key = base64.b64decode(frame["args"]["sasl"]).decode().split("\0")
            signed_in = (user, key) == (USER, KEY)
            if not signed_in:
                await _send(
                    socket, request_id, 401, message="ActivityId : 1\nExceptionMessage :\n\tUnauthorized\n\tSource : x"
                )
                break
            frame = asked
        elif not signed_in:
            asked = frame
            await _send(socket, request_id, 407)
            continue
        if not await _answer(server, socket, request_id, frame["args"]):
            break
    await socket.close()
    return socket


async def _answer(server: GremlinServer, socket: web.WebSocketResponse, request_id: str, asked: dict[str, Any]) -> bool:
    """Answer a query; whether the connection stays open."""
    query = asked["gremlin"]
    server.queries.append(query)
    server.on_query(query)
    trouble = server.troubles.pop(0) if server.troubles else None
    if trouble and trouble.kind == "silence":
        await asyncio.sleep(30)
        return False
    if trouble and trouble.kind == "status":
        await _send(socket, request_id, trouble.status, attributes=trouble.attributes, message=trouble.message)
        return True
    try:
        results = server.answer(query, asked.get("bindings", {}))
    except Exception as exc:  # as a server says that it does not know a step
        syntax = f"ActivityId : 1\r\nExceptionType : GraphCompileException\r\nExceptionMessage :\r\n\tGremlin Query Compilation Error: {exc!r}\r\n\tSource : Azure"  # noqa: E501
        await _send(socket, request_id, 500, attributes={"x-ms-status-code": 400}, message=syntax)
        return True
    parts = [results[start : start + _PART] for start in range(0, len(results), _PART)]
    for number, part in enumerate(parts, 1):
        is_cut = trouble is not None and trouble.kind == "cut"
        await _send(socket, request_id, 200 if number == len(parts) and not is_cut else 206, part)
        if is_cut:
            assert socket._req and socket._req.transport
            socket._req.transport.abort()
            return False
    if not parts:
        await _send(socket, request_id, 204)
    return True


async def _send(
    socket: web.WebSocketResponse, request_id: str, status: int, data: list[Any] | None = None,
    attributes: dict[str, Any] | None = None, message: str = "",
) -> None:  # fmt: skip
    told = {"code": status, "message": message, "attributes": attributes or {}}
    await socket.send_str(json.dumps({"requestId": request_id, "status": told, "result": {"data": data, "meta": {}}}))
