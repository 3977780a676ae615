#!/bin/sh
# After provisioning: where people come back to when they have signed in, and the identity that stands for the app
# registration's secret. The chat page may ask for whoever has signed in there. Can be run again.
set -eu

az ad app update --id "$AUTH_CLIENT_ID" --web-redirect-uris \
    "$APP_URL/.auth/login/aad/callback" "$PIPELINE_URL/.auth/login/aad/callback"

known=$(az ad app federated-credential list --id "$AUTH_CLIENT_ID" --query "[?subject=='$SIGN_IN_PRINCIPAL_ID'] | length(@)" \
    --output tsv)
[ "$known" != 0 ] || az ad app federated-credential create --id "$AUTH_CLIENT_ID" --output none --parameters "{
    \"name\": \"easy-auth-$SIGN_IN_PRINCIPAL_ID\",
    \"issuer\": \"https://login.microsoftonline.com/$AZURE_TENANT_ID/v2.0\",
    \"subject\": \"$SIGN_IN_PRINCIPAL_ID\",
    \"audiences\": [\"api://AzureADTokenExchange\"]
}"

"$(dirname "$0")/../grant.sh" "$APP_PRINCIPAL_ID" Knowledge.Ask.ForOthers
