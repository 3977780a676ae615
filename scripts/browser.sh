#!/bin/sh
# Makes sure that there is a Chromium for the browser tests and for rendering the sample screenshots.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
if ! command -v apt-get >/dev/null; then
    echo "error: chromium is missing; install it with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing chromium (apt)" >&2
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq chromium fonts-dejavu-core >/dev/null
