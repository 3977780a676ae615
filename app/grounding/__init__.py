"""What keeps an answer to its sources: pure functions, no network, no files, no clock."""
