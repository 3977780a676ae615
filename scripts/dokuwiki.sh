#!/bin/sh
# Makes sure that there is a DokuWiki, for the tests that start one: PHP of the system, and Debian's package, unpacked and
# not installed, as it would start a web server. Unpacked, it is put together as its makers publish it.
set -eu
cd "$(dirname "$0")/.."
into=.venv/share/dokuwiki
[ -f $into/conf/dokuwiki.php ] && [ -n "$(command -v php)" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "error: DokuWiki is missing; this needs apt-get" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing php and getting dokuwiki (apt)" >&2
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    php-cli php-mbstring php-xml php-geshi php-phpseclib libphp-simplepie >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && apt-get download -qq dokuwiki 2>/dev/null && dpkg-deb -x dokuwiki*.deb unpacked)
wiki=$scratch/unpacked/usr/share/dokuwiki
rm -f "$wiki/lib/plugins" "$wiki/lib/tpl" "$wiki/inc/preload.php"
cp -R "$scratch/unpacked/var/lib/dokuwiki/lib/." "$wiki/lib"
cp -R "$scratch/unpacked/var/lib/dokuwiki/data" "$wiki/data"
cp -R "$scratch/unpacked/etc/dokuwiki" "$wiki/conf"
find "$wiki" -type l -delete  # to files of an installed one
mkdir -p .venv/share
rm -rf $into
mv "$wiki" $into
