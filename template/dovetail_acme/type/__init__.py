"""A high type: values made of arrays, which transformations see whole, and operations on them."""
