"""The web, as programs may ask it that others can make ask: only public addresses, in limits of time and size."""
