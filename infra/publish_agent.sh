#!/bin/sh
# Publishes the agent service as a hosted agent of the Foundry project: a new version, from the image that kb-agent runs,
# with an identity of its own that gets the roles it needs. Usage: infra/publish_agent.sh [NAME]
set -eu
cd "$(dirname "$0")/.."
name=${1:-knowledge-base}
if [ -z "${FOUNDRY_PROJECT_ENDPOINT:-}" ]; then
    variables=$(azd env get-values)
    set -a
    eval "$variables"
    set +a
fi
agent="$FOUNDRY_PROJECT_ENDPOINT/agents/$name"

foundry() { az rest --resource https://ai.azure.com "$@"; }

# Responses are kept by the platform, so no other store of conversations is given
body=$(python3 -c 'if True:
    import json, os
    names = json.load(open("infra/agent.parameters.json"))["parameters"]["settings"]["value"]
    of_store = {"KB_CONVERSATIONS", "KB_COSMOS_ENDPOINT"}
    settings = {name: os.environ[name] for name in names if name not in of_store and os.environ.get(name)}
    print(json.dumps({"definition": {
        "kind": "hosted", "cpu": "1", "memory": "2Gi",
        "container_configuration": {"image": os.environ["SERVICE_AGENT_IMAGE_NAME"]},
        "protocol_versions": [{"protocol": "responses", "version": "2.0.0"}],
        "environment_variables": settings,
    }}))
')
version=$(foundry --method POST --uri "$agent/versions?api-version=v1" --body "$body" --query version --output tsv)

tries=60
while :; do
    state=$(foundry --method GET --uri "$agent/versions/$version?api-version=v1" \
        --query "[status, instance_identity.principal_id]" --output tsv | tr '\n' ' ')
    case "$state" in
        active*) break ;;
        failed*) echo "error: version $version of $name could not be provisioned; the Foundry portal says why" >&2; exit 1 ;;
    esac
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "error: version $version of $name is still being provisioned; run this again" >&2; exit 1; }
    sleep "${PUBLISH_PAUSE:-10}"
done
identity=$(echo "$state" | cut -d' ' -f2)

allow() {
    az role assignment create --role "$1" --scope "$2" --output none \
        --assignee-object-id "$identity" --assignee-principal-type ServicePrincipal
}
allow "Storage Blob Data Reader" "$SERVING_ID"
allow Reader "$SEARCH_ID"
allow "Search Index Data Reader" "$SEARCH_ID"
allow "Cognitive Services OpenAI User" "$MODELS_ID"

echo "Hosted agent: $agent/endpoint/protocols/openai (version $version)"
