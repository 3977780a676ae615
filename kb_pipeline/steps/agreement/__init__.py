"""Whether articles agree: what their sentences state, and which of these statements contradict one another."""
