#!/bin/sh
# Makes sure that there is Dovecot, for the tests that take in mail from an IMAP server: they start it themselves, so the
# package must not.
set -eu
[ -x /usr/sbin/dovecot ] && [ -x /usr/lib/dovecot/imap ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "error: Dovecot is missing; install it with your system's package manager" >&2; exit 1
fi
sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
echo "installing dovecot-imapd (apt)" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null
    $sudo chmod 755 $policy
    trap '$sudo rm -f $policy' EXIT
fi
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends dovecot-imapd >/dev/null
