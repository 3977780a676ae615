#!/bin/sh
# Before anything is provisioned: the app registration by which people sign in to the chat page and the Dagster UI.
# Made once for an environment; use your own by: azd env set AUTH_CLIENT_ID <client id>
# Prints what it found out as shell variables; azd keeps them as well.
set -eu

remember() {
    echo "export $1=$2"
    [ -n "${BY_HAND:-}" ] || azd env set "$1" "$2" >&2
}

if [ -z "${AUTH_CLIENT_ID:-}" ]; then
    # ID tokens: what Easy Auth asks for. No secret is made: see allow_sign_in.sh
    AUTH_CLIENT_ID=$(az ad app create --display-name "kb-pipeline $AZURE_ENV_NAME" --sign-in-audience AzureADMyOrg \
        --enable-id-token-issuance true --query appId --output tsv)
    # groups of a person become what access control lists of articles may name
    az ad app update --id "$AUTH_CLIENT_ID" --set groupMembershipClaims=SecurityGroup
    az ad sp show --id "$AUTH_CLIENT_ID" --output none 2>/dev/null || az ad sp create --id "$AUTH_CLIENT_ID" --output none
fi
remember AUTH_CLIENT_ID "$AUTH_CLIENT_ID"

# who may use the Dagster UI: object ids, separated by commas
if [ -z "${DAGSTER_USERS:-}" ]; then
    DAGSTER_USERS=${AZURE_PRINCIPAL_ID:-$(az ad signed-in-user show --query id --output tsv)}
fi
remember DAGSTER_USERS "$DAGSTER_USERS"
