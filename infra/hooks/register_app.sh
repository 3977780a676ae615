#!/bin/sh
# Before anything is provisioned: the app registration by which people sign in to the chat page and the Dagster UI, and
# for which the agent service takes tokens.
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

# what people (by a scope) and programs (by roles) may be allowed: the names are those of app/callers/access_tokens.py
known=$(az ad app show --id "$AUTH_CLIENT_ID" --query "length(appRoles[?value=='Knowledge.Ask.ForOthers'])" --output tsv)
if [ "$known" = 0 ]; then
    registration="https://graph.microsoft.com/v1.0/applications(appId='$AUTH_CLIENT_ID')"
    scope=6d1c0b0e-5a53-4f0e-9d6c-0f6d2f7a5a01
    scopes="\"requestedAccessTokenVersion\": 2, \"oauth2PermissionScopes\": [{
        \"id\": \"$scope\", \"value\": \"Knowledge.Ask\", \"type\": \"User\", \"isEnabled\": true,
        \"adminConsentDisplayName\": \"Ask the knowledge base\",
        \"adminConsentDescription\": \"Ask the knowledge base for whoever is signed in, who finds what they may read.\",
        \"userConsentDisplayName\": \"Ask the knowledge base\",
        \"userConsentDescription\": \"Ask the knowledge base for you; it finds what you may read.\"}]"
    az rest --method PATCH --uri "$registration" --output none --body "{
        \"identifierUris\": [\"api://$AUTH_CLIENT_ID\"],
        \"api\": {$scopes},
        \"appRoles\": [
            {\"id\": \"6d1c0b0e-5a53-4f0e-9d6c-0f6d2f7a5a02\", \"value\": \"Knowledge.Ask.All\", \"isEnabled\": true,
             \"allowedMemberTypes\": [\"Application\"], \"displayName\": \"Ask the knowledge base\",
             \"description\": \"Ask the knowledge base as the program that it is.\"},
            {\"id\": \"6d1c0b0e-5a53-4f0e-9d6c-0f6d2f7a5a03\", \"value\": \"Knowledge.Ask.ForOthers\", \"isEnabled\": true,
             \"allowedMemberTypes\": [\"Application\"], \"displayName\": \"Ask the knowledge base for others\",
             \"description\": \"Say for whom a question is: of the chat page only.\"}]}"
    # the Azure CLI may get such tokens for people, without asking them each for their consent; only now is the scope known
    az rest --method PATCH --uri "$registration" --output none --body "{\"api\": {$scopes, \"preAuthorizedApplications\": [
        {\"appId\": \"04b07795-8ddb-461a-bbee-02f9e1bf7b46\", \"delegatedPermissionIds\": [\"$scope\"]}]}}"
fi

# who may use the Dagster UI: object ids, separated by commas
if [ -z "${DAGSTER_USERS:-}" ]; then
    DAGSTER_USERS=${AZURE_PRINCIPAL_ID:-$(az ad signed-in-user show --query id --output tsv)}
fi
remember DAGSTER_USERS "$DAGSTER_USERS"
