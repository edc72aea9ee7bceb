"""Rules of ``ad.transpose``: the primitives on arrays that are linear in some operand."""
