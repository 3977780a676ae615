#!/bin/sh
# Makes sure that there is a Chromium, and what Playwright needs to drive it, for the browser tests
# and for rendering the sample screenshots; and `ip`, for the test that counts what is sent.
set -eu
has() { command -v "$1" >/dev/null; }
can_have_shell() { has apt-cache && apt-cache show chromium-headless-shell >/dev/null 2>&1; } # a page costs it a sixth; Ubuntu has none
missing="" no_browser=""
if ! has chromium-headless-shell; then
    if ! has chromium && ! has chromium-browser && ! has google-chrome; then
        no_browser=yes
    elif [ "$(id -u)" = 0 ] && can_have_shell; then
        missing="chromium-headless-shell"
    fi
fi
find /lib /usr/lib /usr/lib64 -name 'libatomic.so.1' 2>/dev/null | grep -q . || missing="$missing libatomic1"
PATH="$PATH:/usr/sbin:/sbin" has ip || missing="$missing iproute2"
[ -n "$missing$no_browser" ] || exit 0
if ! has apt-get; then
    echo "error: these are missing: ${no_browser:+chromium }$missing; install them with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
if [ -n "$no_browser" ]; then
    browser=chromium
    ! can_have_shell || browser=chromium-headless-shell
    missing="$browser fonts-dejavu-core $missing"
fi
echo "installing ${missing# } (apt)" >&2
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null
