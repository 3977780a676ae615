"""Contributions of readers and authors: drafts, proposals, and what was found out by the service itself."""
