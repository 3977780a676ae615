"""Requests to the web that strangers can cause: only to public addresses, within limits of time and size."""
