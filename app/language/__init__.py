"""Languages: what readers are told, in which language they ask, and how words of a language are compared."""
