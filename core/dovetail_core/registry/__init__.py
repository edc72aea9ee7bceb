"""Plugins: manifests, their discovery, access to their objects, hooks, the facade's names."""
