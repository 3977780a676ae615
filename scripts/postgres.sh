#!/bin/sh
# Makes sure that there is a PostgreSQL server's program, for the tests that start one of their own.
set -eu
command -v initdb >/dev/null && exit 0
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null; then
    echo "error: PostgreSQL is missing; install it with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing postgresql (apt)" >&2
$sudo apt-get update -qq
# no cluster of the system's own: the tests make theirs
$sudo mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" | $sudo tee /etc/postgresql-common/createcluster.d/kb-pipeline.conf >/dev/null
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq postgresql >/dev/null
