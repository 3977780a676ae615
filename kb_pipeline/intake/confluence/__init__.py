"""Confluence as a source: the pages of spaces, in their storage format."""
