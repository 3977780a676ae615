"""What a caller may see: articles, passages, images, original files, and how good the search is."""
