"""PowerPoint: python-pptx reads it; each slide is a page."""
