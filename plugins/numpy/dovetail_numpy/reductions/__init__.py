"""Reductions: sums, extremes, moments, order statistics, with masks, initial values and NaN."""
