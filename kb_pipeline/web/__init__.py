"""What all HTTP servers of this project share: limits, and protection against requests from foreign pages."""
