"""Programs, the regions of primitives that hold some, and the verification of both."""
