"""Formats that the program pandoc reads, in a process of its own."""
