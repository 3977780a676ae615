#!/bin/sh
# After provisioning: Content Understanding's defaults and the image analyzer, by `kb analyzers deploy` as yourself.
set -eu
cd "$(dirname "$0")/../.."
[ "${KB_ANALYZER:-}" = content-understanding ] || exit 0

scripts/setup.sh deploy/requirements.lock

# a role that was just assigned may take minutes to be known
tries=10
until .venv/bin/kb analyzers deploy; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    echo "trying again in 30 s; the role Cognitive Services User may not be known yet" >&2
    sleep 30
done
