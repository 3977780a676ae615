#!/bin/sh
# Makes .venv from a lock file, and only when that lock file changed.
#   scripts/setup.sh requirements.lock       what `kb` and the Dagster UI need
#   scripts/setup.sh requirements-dev.lock   the same, and what the tests need
set -eu
cd "$(dirname "$0")/.."
lock=${1:?usage: scripts/setup.sh LOCK_FILE}
stamp=.venv/.installed
wanted=$(cat "$lock" pyproject.toml | sha256sum | cut -d' ' -f1)

# the locked development set contains everything of the runtime set
if [ -f "$stamp" ] && grep -qx "$lock $wanted" "$stamp"; then exit 0; fi
if [ "$lock" = requirements.lock ] && [ -f "$stamp" ] &&
    grep -qx "requirements-dev.lock $(cat requirements-dev.lock pyproject.toml | sha256sum | cut -d' ' -f1)" "$stamp"; then exit 0; fi

apt_install() {
    if ! command -v apt-get >/dev/null; then
        echo "error: $1 is missing; install it with your system's package manager" >&2; exit 1
    fi
    sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
    echo "installing $1 (apt)" >&2
    $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$1" >/dev/null
}

python=""
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "error: Python 3.11 or newer is needed; set PYTHON=/path/to/python" >&2; exit 1; }

if [ ! -x .venv/bin/pip ]; then
    rm -rf .venv
    "$python" -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    "$python" -m venv .venv
fi
echo "installing the packages of $lock" >&2
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
echo "$lock $wanted" >"$stamp"
