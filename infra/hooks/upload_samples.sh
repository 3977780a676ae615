#!/bin/sh
# After provisioning: the sample articles, if there are no articles yet. Not wanted: azd env set SAMPLES false
set -eu
cd "$(dirname "$0")/../.."
[ "${SAMPLES:-true}" = true ] || exit 0

# a role that was just assigned may take minutes to be known
tries=20
until found=$(az storage blob list --account-name "$STAGING_ACCOUNT" --container-name staging --auth-mode login \
    --num-results 1 --query "length(@)" --output tsv 2>/dev/null); do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "error: you may not list blobs of $STAGING_ACCOUNT; you need the role Storage Blob Data Contributor there" >&2; exit 1; }
    sleep 15
done
[ "$found" = 0 ] || { echo "there are articles in $STAGING_ACCOUNT already; no samples are uploaded"; exit 0; }

az storage blob upload-batch --account-name "$STAGING_ACCOUNT" --destination staging --destination-path articles \
    --source samples/staging --auth-mode login --output none
echo "uploaded the sample articles to $KB_STAGING"
