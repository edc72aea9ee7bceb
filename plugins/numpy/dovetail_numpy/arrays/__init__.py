"""The methods and operators of arrays."""
