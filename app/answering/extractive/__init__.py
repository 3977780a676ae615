"""Answers without a model: quotes sentences of the passages word for word, with their pictures."""
