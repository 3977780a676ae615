#!/bin/sh
# Builds both images by buildah, which needs no daemon, ingests the samples in one of them and asks the other. For Debian
# 12, as root; takes ten minutes and 20 GB.
# The base is made of Debian's packages, because python:slim comes from a registry that not every machine reaches.
set -eu
cd "$(dirname "$0")/.."
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq buildah mmdebstrap crun >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
base=localhost/python:3.11

mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates,adduser,passwd \
    bookworm "$scratch/base.tar"
made=$(buildah from scratch)
buildah add -q "$made" "$scratch/base.tar" /
# whom this machine trusts
buildah add -q "$made" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
buildah config --env PIP_CERT=/etc/ssl/certs/ca-certificates.crt "$made"
buildah commit -q --rm "$made" "$base"

for image in pipeline app; do
    buildah build -q --network host --build-arg PYTHON="$base" -f "deploy/$image.Dockerfile" -t "kb-$image" .
done

mkdir "$scratch/home"
chown 1000:1000 "$scratch" "$scratch/home"
pipeline=$(buildah from kb-pipeline) app=$(buildah from kb-app)
within() { buildah run --network host --volume "$scratch/home:/data/kb:rw" "$@"; }
within --volume "$PWD/samples/staging:/data/staging:ro" "$pipeline" -- env -u DAGSTER_HOME kb ingest
within "$app" -- sh -c '
    python -m app & served=$!
    python - <<END
import json, time, urllib.request as web
asked = web.Request("http://127.0.0.1:8088/chat", json.dumps({"question": "How do I create a webhook?"}).encode(),
                    {"content-type": "application/json"})
for _ in range(60):
    try:
        answer = json.load(web.urlopen(asked, timeout=30))
        break
    except OSError:
        time.sleep(1)
print(answer["answer"])
assert "New webhook" in answer["answer"]
END
    told=$?
    kill "$served"
    exit "$told"'
buildah rm "$pipeline" "$app" >/dev/null
