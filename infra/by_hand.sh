#!/bin/sh
# What `azd up` does, with the Azure CLI alone; run it again after changes. Usage: infra/by_hand.sh NAME REGION
# What azd keeps with `azd env set` are environment variables here: ANALYZER, MODELS_LOCATION, DAGSTER_USERS, ...
set -eu
cd "$(dirname "$0")/.."
export AZURE_ENV_NAME="${1:?usage: infra/by_hand.sh NAME REGION}" AZURE_LOCATION="${2:?usage: infra/by_hand.sh NAME REGION}"
export BY_HAND=true
AZURE_PRINCIPAL_ID=$(az ad signed-in-user show --query id --output tsv)
export AZURE_PRINCIPAL_ID
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# a parameter file with its ${VARIABLES} filled in, as a shell does it
# shellcheck disable=SC2016
filled() { { echo 'cat <<END'; sed '/\$schema/d' "infra/$1.parameters.json"; echo END; } | sh >"$scratch/$1.json"; }

variables=$(infra/hooks/register_app.sh)
eval "$variables"

filled main
az deployment sub create --name "kb-$AZURE_ENV_NAME" --location "$AZURE_LOCATION" --template-file infra/main.bicep \
    --parameters "@$scratch/main.json" --query properties.outputs --output json >"$scratch/outputs.json"
# the Azure CLI writes KB_STAGING as kB_STAGING
variables=$(python3 -c 'if True:
    import json, shlex, sys
    for name, output in json.load(open(sys.argv[1])).items():
        print("export", name.upper() + "=" + shlex.quote(str(output["value"])))
' "$scratch/outputs.json")
eval "$variables"

for hook in allow_sign_in upload_samples deploy_analyzers; do infra/hooks/$hook.sh; done

tag=$(date -u +%Y%m%d%H%M%S)
registry=${AZURE_CONTAINER_REGISTRY_ENDPOINT%%.*}
for service in pipeline app; do
    az acr build --registry "$registry" --image "kb-$service:$tag" --file "deploy/$service.Dockerfile" . --output none
done
export SERVICE_PIPELINE_IMAGE_NAME="$AZURE_CONTAINER_REGISTRY_ENDPOINT/kb-pipeline:$tag"
export SERVICE_APP_IMAGE_NAME="$AZURE_CONTAINER_REGISTRY_ENDPOINT/kb-app:$tag"
export SERVICE_AGENT_IMAGE_NAME="$SERVICE_APP_IMAGE_NAME"
there=$(az resource list --resource-group "$AZURE_RESOURCE_GROUP" --resource-type Microsoft.App/containerApps \
    --query "[].name" --output tsv)
case "$there" in *kb-pipeline*) export SERVICE_PIPELINE_RESOURCE_EXISTS=true ;; esac
case "$there" in *kb-app*) export SERVICE_APP_RESOURCE_EXISTS=true ;; esac
for service in pipeline agent app; do
    filled "$service"
    az deployment group create --name "kb-$service" --resource-group "$AZURE_RESOURCE_GROUP" \
        --template-file "infra/$service.bicep" --parameters "@$scratch/$service.json" --output none
done
echo "Chat page:     $APP_URL"
echo "Dagster UI:    $PIPELINE_URL"
echo "Agent service: $AGENT_URL"
