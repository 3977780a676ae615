"""What can be checked word by word in a text: numbers, dates, times and codes, and how languages write them."""
