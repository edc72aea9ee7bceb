"""What is drawn with keys, by family of distributions."""
