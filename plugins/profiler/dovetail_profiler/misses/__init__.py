"""Reasons why functions are traced or compiled again: differences from earlier calls."""
