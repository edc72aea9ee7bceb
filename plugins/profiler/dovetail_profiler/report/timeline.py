"""When the stages ran: intervals, which are joined as they become many."""

from __future__ import annotations

from collections.abc import Iterator

MOST = 1000
"""How many intervals are kept of one stage."""


class Track:
    """The times at which one thing happened, as intervals in seconds.

    Neighbours are joined where the gap between them is small: what is small doubles whenever there
    are too many of them.
    """

    def __init__(self) -> None:
        self._spans: list[list[float]] = []
        self._gap = 1e-4

    def add(self, start: float, end: float) -> None:
        """One more interval, which ends after those before it."""
        while self._spans and start <= self._spans[-1][1] + self._gap:
            start = min(start, self._spans.pop()[0])
        self._spans.append([start, end])
        if len(self._spans) > MOST:
            self._thin()

    def _thin(self) -> None:
        while len(self._spans) > MOST // 2:
            self._gap *= 2
            old, self._spans = self._spans, []
            for start, end in old:
                if self._spans and start <= self._spans[-1][1] + self._gap:
                    self._spans[-1][1] = end
                else:
                    self._spans.append([start, end])

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter([(a, b) for a, b in self._spans])


class OwnTimes:
    """What each of several nested intervals took without those inside of it.

    They are told at their ends, so the inner ones come first.
    """

    def __init__(self) -> None:
        self._inner: list[tuple[float, float]] = []

    def own(self, start: float, end: float) -> float:
        """The time of an interval that ends now, without those that it holds."""
        inside = 0.0
        while self._inner and self._inner[-1][0] >= start:
            begun, ended = self._inner.pop()
            inside += ended - begun
        self._inner.append((start, end))
        del self._inner[:-MOST]
        return max(end - start - inside, 0.0)
