"""Choosing what to keep by a budget of memory: costs, cut, schedule, search, report."""
