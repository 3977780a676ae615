"""Who asks: tokens, principals, pictures that come with a question, and limits on what is asked for at once."""
