"""The language model: which one, how it is called, and how it is shown what others wrote."""
