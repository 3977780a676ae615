#!/bin/sh
# Installs the servers that stand in for services in the tests; Node.js itself is one of the development packages.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
cd kb_pipeline_tests/node
wanted=$(sha256sum <package-lock.json | cut -d' ' -f1)
if [ "$(cat node_modules/.installed 2>/dev/null)" = "$wanted" ]; then exit 0; fi
echo "installing the test servers (npm)" >&2
npm ci --silent --ignore-scripts
echo "$wanted" >node_modules/.installed
