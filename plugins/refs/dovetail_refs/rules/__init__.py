"""Rules of the rows of references."""
