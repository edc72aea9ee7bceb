"""Random programs under random stacks of transformations: ``python -m fuzz``."""
