"""Draws with random keys, by family of distributions."""
