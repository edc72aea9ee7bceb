"""Running a call."""
