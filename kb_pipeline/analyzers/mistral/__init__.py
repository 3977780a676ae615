"""Mistral Document AI as an analyzer: pages are printed to PDF and read by OCR."""
