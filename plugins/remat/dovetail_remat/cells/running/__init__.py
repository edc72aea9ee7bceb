"""Running a checkpointed call."""
