"""Types of the parts that devices along the axes of a mesh have."""
