"""Keeps an answer to its sources, by pure functions: no network, no files, no clock."""
