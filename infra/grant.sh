#!/bin/sh
# Gives an identity a role at the agent service, if it has it not. Usage: infra/grant.sh OBJECT-ID ROLE
#   Knowledge.Ask.All          a program that asks for itself
#   Knowledge.Ask.ForOthers    the chat page, which asks for whoever is signed in there
set -eu
usage="usage: infra/grant.sh OBJECT-ID ROLE"
identity=${1:?$usage} value=${2:?$usage}
AUTH_CLIENT_ID=${AUTH_CLIENT_ID:-$(azd env get-value AUTH_CLIENT_ID)}

service=$(az ad sp show --id "$AUTH_CLIENT_ID" --query id --output tsv)
role=$(az ad sp show --id "$AUTH_CLIENT_ID" --query "appRoles[?value=='$value'].id | [0]" --output tsv)
[ -n "$role" ] || { echo "error: the app registration $AUTH_CLIENT_ID has no role $value" >&2; exit 1; }

roles="https://graph.microsoft.com/v1.0/servicePrincipals/$identity/appRoleAssignments"
known=$(az rest --method GET --uri "$roles" --query "length(value[?appRoleId=='$role'])" --output tsv)
[ "$known" != 0 ] || az rest --method POST --uri "$roles" --output none \
    --body "{\"principalId\": \"$identity\", \"resourceId\": \"$service\", \"appRoleId\": \"$role\"}"
