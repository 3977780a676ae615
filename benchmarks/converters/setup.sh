#!/bin/sh
# Makes the virtual environment in which the other converters run and fidelity is scored (about 600 MB).
# usage: sh benchmarks/converters/setup.sh [FOLDER]      default: .venv-converters beside this checkout's own
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-.venv-converters}
[ -x "$folder/bin/python" ] || "${PYTHON:-.venv/bin/python}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --requirement benchmarks/converters/requirements.txt
"$folder/bin/python" -m benchmarks.converters.others --versions
