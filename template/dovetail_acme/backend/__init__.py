"""A backend: where programs run."""
