"""Word: mammoth reads it; what mammoth loses is read from the document beside it."""
