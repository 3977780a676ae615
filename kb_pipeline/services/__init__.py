"""What all clients of external services share: credentials, errors, retries, URLs, and usage with its cost."""
