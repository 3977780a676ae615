#!/bin/sh
# Pins and hashes every package for all platforms and Python 3.11 or newer, as pip resolves them. The files name no host.
set -eu
cd "$(dirname "$0")/.."
compile="uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url"
$compile --group build pyproject.toml -o requirements.lock "$@"
$compile --group build --group dev --all-extras -c requirements.lock pyproject.toml -o requirements-dev.lock "$@"
# the container images: see deploy/README.md
$compile --group build --extra formats --extra postgres --extra kubernetes --extra ray --extra cosmos --extra gremlin --extra azure --extra azure-monitor \
    -c requirements-dev.lock pyproject.toml -o deploy/requirements.lock "$@"
$compile -c requirements-dev.lock deploy/app-requirements.in -o deploy/app-requirements.lock "$@"
