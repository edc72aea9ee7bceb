"""Rules of the primitives behind checkpointed loops."""
