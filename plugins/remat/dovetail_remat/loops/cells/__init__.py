"""Cells of the rows behind checkpointed loops."""
