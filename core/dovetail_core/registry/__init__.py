"""Plugins: manifests, their discovery, what they name, hooks, and the facade's names."""
