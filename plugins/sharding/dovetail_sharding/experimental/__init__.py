"""Experimental modules of JAX on meshes and partitioning."""
