#!/bin/sh
# Makes sure that there is a Chromium, and what Playwright needs to drive it, for the browser tests
# and for rendering the sample screenshots; and `ip`, for the test that counts what is sent.
set -eu
missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    missing="chromium fonts-dejavu-core"
find /lib /usr/lib /usr/lib64 -name 'libatomic.so.1' 2>/dev/null | grep -q . || missing="$missing libatomic1"
PATH="$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || missing="$missing iproute2"
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "error: these are missing: $missing; install them with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing ${missing# } (apt)" >&2
$sudo apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null
