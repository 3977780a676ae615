"""Pages of a PDF, as words, lines and shapes, become the HTML tree that ``steps/html`` converts."""
