"""``import dovetail.example_libraries``: the libraries are its parts."""

__all__: list[str] = []
