"""Converters that `benchmarks.conversion` compares, ours and others, and how what they write is scored."""
