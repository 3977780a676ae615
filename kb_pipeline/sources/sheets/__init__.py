"""Spreadsheets and tables of text: each sheet is a section, its tables keep their headers."""
