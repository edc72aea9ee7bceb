"""Functions that say themselves how they are divided among devices."""
