"""Programs as text: the printer and the parser."""
