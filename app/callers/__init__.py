"""Who asks: tokens, principals, and limits on what callers ask for at once."""
