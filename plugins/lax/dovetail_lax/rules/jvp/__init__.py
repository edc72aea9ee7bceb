"""Rules of ``ad.jvp``: values and tangents of the primitives on arrays."""
