"""Sorting, searching, counting and sets."""
