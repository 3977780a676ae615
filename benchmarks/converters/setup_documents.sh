#!/bin/sh
# Makes the virtual environment in which the other readers of documents run and fidelity is scored (about 400 MB).
# usage: sh benchmarks/converters/setup_documents.sh [FOLDER]      default: .venv-documents beside this checkout's own
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-.venv-documents}
[ -x "$folder/bin/python" ] || "${PYTHON:-.venv/bin/python}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --requirement benchmarks/converters/requirements_documents.txt
"$folder/bin/python" -m benchmarks.converters.documents --versions
