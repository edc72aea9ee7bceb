"""One module for each area of attacks; see ``torture``."""
