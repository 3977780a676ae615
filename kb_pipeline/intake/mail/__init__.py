"""Mail as a source: the threads of folders of messages."""
