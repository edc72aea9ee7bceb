"""Elementwise functions, by family."""
