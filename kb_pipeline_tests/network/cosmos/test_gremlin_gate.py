"""Queries in Gremlin: what does more than read is refused before anything is sent, and says what may be asked."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import QueryError, QueryRefusedError
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.cosmos.gremlin_gate import MOST_STEPS, STEPS, NetworkVersion, checked, parse
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import SAMPLE
from kb_pipeline_tests.network.cosmos.accounts import GremlinServer, loaded_accounts

SCOPE = NetworkVersion("telco@1")
HERE = ".has('partitionKey', 'telco@1')"
Asked = tuple[CosmosStore, GremlinServer]
HOSTILE = r"""
g.addV('x')
g.addE('x')
g.inject(1)
g.inject(0).repeat(inject(1,2,3)).times(32)
g.tx().rollback()
g.tx()
g.call('x')
g.io('/etc/passwd').read()
g.with('evaluationTimeout', 1000000).V()
g.withStrategies(ReadOnlyStrategy).V()
g.withSideEffect('x', 1).V()
g.mergeV([:])
g.V().drop()
g.V().addV('x')
g.V().addE('x').to(__.V('y'))
g.V().property('name', 'x')
g.V().property(single, 'name', 'x')
g.V().properties().drop()
g.V().mergeV([(T.id): 1])
g.V().mergeE([:])
g.V().sideEffect(drop())
g.V().where(drop())
g.V().coalesce(__.drop(), id())
g.V().union(out(), __.addV('x'))
g.V().repeat(__.drop()).times(2)
g.V().map{it.get()}
g.V().map { System.exit(1) }
g.V().filter{ it -> true }
g.V().filter(x -> true)
g.V().map(Lambda.function('it.get()'))
g.V().iterate()
g.V().program('x')
g.V().pageRank()
g.V().explain()
g.V().profile()
g.V().toList()
g.V().next()
g.V().subgraph('x').cap('x')
g.V().write()
g.V().inject(1)
g.V().executionProfile()
g.V(); g.V().drop()
g.V() // comment
g.V() /* comment */ .drop()
g.V() # comment
System.exit(1)
evaluate('System.exit(1)')
Runtime.getRuntime().exec('id')
"id".execute()
new File('/etc/passwd').text
def x = 1
g = null
graph.traversal().V()
graph.V()
this.g.V()
g.V().has("name", "${System.exit(1)}")
g.V().has('name', "${'id'.execute()}")
g.V().has('name', /x/)
g.V().has('name', $/x/$)
g.V().has('name', '''x''')
g.V().has('name', 'a\u0027).drop(); g.V(\u0027')
g\u002eV().drop()
g.V().has('name', 'a\\')
g.V().has('name', 'unclosed)
g.V()['drop']()
g.V().'drop'()
g.V().with('x').drop()
g.V()&.drop()
g.V() + g.E()
g.V(g.V().drop())
g.V().where(g.V().drop())
g.V([1, 2])
g.V(id)
g.V().hasId(gt(5).drop())
g.V().repeat(out())
g.V().repeat(out()).emit()
g.V().repeat(out()).until(has('name', 'x'))
g.V().repeat(out()).times(33)
g.V().repeat(out()).times(1000000)
g.V().repeat(out()).times(-1)
g.V().repeat(repeat(out())).times(2)
g.V().has('name', regex('(a+)+$'))
g.V().has('name', TextP.regex('(a+)+$'))
g.V().by(T.class)
g.V().has(T.getClass(), 'x')
g.V().ѕum()
gg.V()
V()
g
SELECT * FROM vertices
""".strip().splitlines()
HARMLESS = """
g.V()
g.V( 'VPN-ACME' ) . out()
g.V().has('name', 'drop()')
g.V().has('name', 'g.V().drop(); // } -> addV')
g.V().has('name', "it's a \\"name\\"")
g.V().has('name', '$100 {x} [y] #z')
g.V().has("name", 'Zürich')
g.V().hasLabel('Service').count()
g.V().repeat(__.in().simplePath()).until(hasLabel('Service')).limit(5)
g.V().has('subscribers', P.gt(5).and(lt(1e6)))
g.E().hasLabel('depends_on').limit(10)
""".strip().splitlines()
PARTS = st.sampled_from(
    ["g", ".", "V", "(", ")", "'x'", '"', "'", ",", "has", "drop", "__", "P", "T", "id", "1", "-", "{", "}", ";", "\\",
     " ", "repeat", "times", "$", "[", "]", "/", "*", "in", "\0", "\ud800", "é"]
)  # fmt: skip


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory, cosmos_server: CosmosServer
) -> Iterator[tuple[CosmosStore, GremlinServer]]:
    with loaded_accounts(SAMPLE.folder, cosmos_server, tmp_path_factory.mktemp("home")) as (settings_, server):
        store = CosmosStore(settings_, SAMPLE)
        yield store, server
        asyncio.run(store.close())


@pytest.mark.slow("lets queries run against their limits")
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_query_is_refused_and_never_sent(asked: Asked, text: str) -> None:
    store, server = asked
    asyncio.run(store.graph("g.V().count()", QueryLimits()))
    before = len(server.queries)
    with pytest.raises(QueryError):
        asyncio.run(store.graph(text, QueryLimits()))
    assert not [query for query in server.queries[before:] if "kb_state" not in query]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_query_passes_also_if_its_texts_look_like_steps(text: str) -> None:
    assert parse(checked(text, SCOPE, 11))


@pytest.mark.parametrize(
    "text",
    [
        "g.V().has('name', '" + "x" * 65_536 + "')",
        "g.V()" + ".out()" * MOST_STEPS,
        "g.V().where(" + "out().where(" * 100 + "out()" + ")" * 101,
        "g.V(" * 10_000,
        " ",
        "g.V('\ud800')",
        "g.V('\0')",
    ],
    ids=["65 KB", "401 steps", "200 brackets", "10,000 brackets", "blank", "no text", "NUL"],
)
def test_texts_that_no_server_should_see_are_refused(text: str) -> None:
    with pytest.raises(QueryRefusedError):
        checked(text, SCOPE, 11)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("g.V()", f"g.V(){HERE}"),
        ("g.V('a', 'b/c')", f"g.V('telco@1:a', 'telco@1:b%2Fc'){HERE}"),
        ("g.E()", "g.E().has('kb_version', 'telco@1')"),
        ("g.V().V('a')", f"g.V(){HERE}.V('telco@1:a'){HERE}"),
        ("g.V().has('id', within('a'))", f"g.V(){HERE}.hasId(within('telco@1:a'))"),
        ("g.V().has('S', 'id', 'a')", f"g.V(){HERE}.hasLabel('S').hasId('telco@1:a')"),
        ('g.V().has("n", "it\'s")', f"g.V(){HERE}.has('n', 'it\\'s')"),
    ],
)
def test_a_query_sees_one_version_and_is_limited(text: str, sent: str) -> None:
    assert checked(text, SCOPE, 11) == f"{sent}.limit(11)"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("g.V().hasLable('x')", "hasLabel"),
        ("g.V().out().count", "count needs brackets"),
        ("g.V().has('name' 'x')", "a comma"),
        ("g.V().has(name, 'x')", "quotation marks"),
        ("g.V().repeat(out())", "times"),
        ("g.V().order().by('name', Order.up)", "asc"),
        ("g.addV('x')", "begins with g.V"),
        ("g.V(1)", "quotation marks"),
    ],
)
def test_a_refusal_says_how_to_ask(text: str, advice: str) -> None:
    with pytest.raises(QueryError, match=advice):
        checked(text, SCOPE, 11)


@pytest.mark.slow("lets queries run against their limits")
@settings(max_examples=500)
@given(st.one_of(st.text(max_size=60), st.lists(PARTS, max_size=25).map(lambda parts: "g.V()" + "".join(parts))))
def test_whatever_is_written_is_refused_or_reads_only(text: str) -> None:
    try:
        sent = checked(text, SCOPE, 11)
    except QueryError:
        return
    pending = [parse(sent)]
    while pending:
        chain = pending.pop()
        assert chain.start == "P" or {call.name for call in chain.calls} <= STEPS | {"within", "gt", "lt"}
        pending += [each for call in chain.calls for each in call.arguments if hasattr(each, "calls")]
    assert sent.endswith(".limit(11)")
