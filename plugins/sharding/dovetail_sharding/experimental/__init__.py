"""What JAX has on trial of meshes."""
