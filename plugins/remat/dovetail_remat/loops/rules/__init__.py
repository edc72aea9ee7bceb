"""Rules of the primitives for checkpointed loops."""
