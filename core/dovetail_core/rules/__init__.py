"""Rule tables, and the interpretations of the kernel: evaluation, staging, dead code."""
