#!/bin/sh
# Pins images of others by digest: those of deploy/unpinned-images.txt, or those that are named, also to renew their
# digests (scripts/pin_images.sh postgres:17-bookworm). Asks their registry by Docker or skopeo.
set -eu
cd "$(dirname "$0")/.."
list=deploy/unpinned-images.txt
digest_of() {   # that of all platforms together
    if command -v docker >/dev/null; then
        docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
    elif command -v skopeo >/dev/null; then
        skopeo inspect --raw "docker://$1" >"$scratch" && echo "sha256:$(sha256sum <"$scratch" | cut -d ' ' -f 1)"
    else
        echo "error: install Docker or skopeo, which ask the registry" >&2; return 1
    fi
}
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
[ $# -gt 0 ] || set -- $(grep -v '^#' "$list")
for image; do
    digest=$(digest_of "$image")
    case $digest in
        sha256:*[!0-9a-f]* | "") digest="" ;;
        sha256:????????????????????????????????????????????????????????????????) ;;
        *) digest="" ;;
    esac
    [ -n "$digest" ] || { echo "error: the registry told no digest of $image" >&2; exit 1; }
    for file in compose.yaml deploy/*.Dockerfile infra/*.bicep; do
        pattern=$(printf '%s' "$image" | sed 's/[.]/\\./g')
        sed "s#\([=' ]\)$pattern\(@sha256:[0-9a-f]*\)\{0,1\}\(['[:space:]]\|\$\)#\1$image@$digest\3#" "$file" >"$scratch"
        cmp -s "$scratch" "$file" || cat "$scratch" >"$file"
    done
    grep -vxF "$image" "$list" >"$scratch" || true
    cat "$scratch" >"$list"
    echo "$image@$digest"
done
