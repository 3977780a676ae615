#!/bin/sh
# Makes sure that there is a Chromium, and what Playwright needs to drive it, for the browser tests
# and for rendering the sample screenshots; and `ip`, for the test that counts what is sent.
set -eu
has() { command -v "$1" >/dev/null; }
missing=""
if ! has chromium-headless-shell; then # a page costs it a sixth; Ubuntu has none
    if has apt-cache && apt-cache show chromium-headless-shell >/dev/null 2>&1; then
        missing="chromium-headless-shell fonts-dejavu-core"
    elif ! has chromium && ! has chromium-browser && ! has google-chrome; then
        missing="chromium fonts-dejavu-core"
    fi
fi
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
