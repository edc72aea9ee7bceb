"""Rules of the rows behind checkpointed loops."""
