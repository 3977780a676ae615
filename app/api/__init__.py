"""The agent service over HTTP: routes that read a request, ask one part of the service, and say what came of it."""
