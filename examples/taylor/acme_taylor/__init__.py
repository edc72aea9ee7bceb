"""Taylor mode: derivatives of any order along a path, in one pass; a third-party plugin."""

from .series import SeriesCarrier as SeriesCarrier, series_rules as series_rules, taylor as taylor

__all__ = ["taylor"]
