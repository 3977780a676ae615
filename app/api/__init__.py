"""The HTTP API of the agent service: routes, identity of callers, limits, and errors as HTTP responses."""
