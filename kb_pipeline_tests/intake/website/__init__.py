"""The source of websites, against a real server on loopback."""
