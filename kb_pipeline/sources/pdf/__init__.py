"""PDF: PDFium reads it; its structure tags, else the layout of its pages, else OCR, tell what is what."""
