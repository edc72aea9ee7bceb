"""Interpretations of whole programs: lifting, control flow, high types, mutable state, passes."""
