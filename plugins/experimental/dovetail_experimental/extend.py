"""Interfaces for libraries that extend this one: their modules are other plugins'."""

__all__: list[str] = []
