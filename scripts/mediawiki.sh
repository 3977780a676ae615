#!/bin/sh
# Makes sure that there is a MediaWiki, for the tests that start one: PHP of the system, and Debian's package, unpacked and
# not installed, as it would start a web server.
set -eu
cd "$(dirname "$0")/.."
into=.venv/share/mediawiki
[ -f /usr/share/mediawiki/maintenance/install.php ] && [ -n "$(command -v php)" ] && exit 0
[ -f $into/maintenance/install.php ] && [ -n "$(command -v php)" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "error: MediaWiki is missing; install it and PHP with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing php and getting mediawiki (apt)" >&2
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    php-cli php-intl php-mbstring php-sqlite3 php-xml >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && apt-get download -qq mediawiki mediawiki-classes 2>/dev/null
    for package in *.deb; do dpkg-deb -x "$package" unpacked; done)
mkdir -p .venv/share
rm -rf $into
mv "$scratch/unpacked/usr/share/mediawiki" $into
