"""Rules of the rows of boxes."""
