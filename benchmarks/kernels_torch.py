"""What PyTorch takes for the work of cpu_kernels.py, in a process and an environment of its own.

    python benchmarks/kernels_torch.py

Each line of the input is the name of a case and a file of arrays; each of the output the least
seconds, or null where PyTorch has nothing of the kind.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from least import least

torch: Any = None
"""Imported where it is measured."""
LAST, FIRST = "NHWC", "NCHW"
BRAIN = "bfloat16"


def _images(layout: str, x: Any, kernel: Any, out: Any) -> Any:
    """The same as PyTorch names the axes, without moving anything."""
    if layout == LAST:
        x, kernel, out = x.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), out.permute(0, 3, 1, 2)
    return x, kernel, out


def _conv(layout: str, grouped: bool) -> Callable[..., Any]:
    def conv(*arrays: Any) -> Any:
        x, kernel, _ = _images(layout, *arrays)
        groups = x.shape[1] if grouped else 1
        return torch.nn.functional.conv2d(x, kernel, padding=1, groups=groups)

    return conv


def _by_kernel(*arrays: Any) -> Any:
    x, kernel, out = _images(LAST, *arrays)
    return torch.nn.grad.conv2d_weight(x, kernel.shape, out, padding=1, groups=x.shape[1])


def _lexsort(x: Any, y: Any) -> Any:
    order = torch.argsort(y, stable=True)
    return order[torch.argsort(x[order], stable=True)]


def _convolve(x: Any, y: Any) -> Any:
    pad = y.shape[0] - 1
    return torch.nn.functional.conv1d(x[None, None], y.flip(0)[None, None], padding=pad)


def _product(x: Any) -> Any:
    return x @ x


WORK: dict[str, Callable[..., Any]] = {
    "sort": lambda x: torch.sort(x, stable=True),
    "argsort": lambda x: torch.argsort(x, stable=True),
    "lexsort, 2 keys": _lexsort,
    "top_k, k = 32": lambda x: torch.topk(x, min(32, x.shape[0])),
    "median": lambda x: torch.median(x),
    "percentile": lambda x: torch.quantile(x, 0.9),
    "unique": lambda x: torch.unique(x),
    "permutation": lambda x: x[torch.randperm(x.shape[0])],
    "cumsum": lambda x: torch.cumsum(x, 0),
    "cummax": lambda x: torch.cummax(x, 0),
    "scatter-add into 1000": lambda x, places, added: x.index_add(0, places, added),
    "random bits": lambda x: torch.randint(0, 2**31 - 1, x.shape, dtype=torch.int32),
    "uniform": lambda x: torch.rand(x.shape),
    "normal": lambda x: torch.randn(x.shape),
    "rows of a table": lambda x, places: torch.nn.functional.embedding(places, x),
    "convolve with 30": _convolve,
    "channels last, 3x3": _conv(LAST, True),
    "channels first, 3x3": _conv(FIRST, True),
    "all channels, last, 3x3": _conv(LAST, False),
    "all channels, first, 3x3": _conv(FIRST, False),
    "derivative by kernel": _by_kernel,
    "product, bfloat16": _product,
    "product by rows, bfloat16": lambda x: x.T @ x,
    "product, int8": _product,
    "product, int16": _product,
}
for _rows in (4, 16):
    WORK |= {
        f"Cholesky, {_rows}x{_rows}": lambda x: torch.linalg.cholesky(x),
        f"LU, {_rows}x{_rows}": lambda x: torch.linalg.lu_factor(x),
        f"solve, {_rows}x{_rows}": lambda x: torch.linalg.solve(x, x[..., :1]),
    }


class Torch:
    """A process that measures PyTorch."""

    def __init__(self, python: str) -> None:
        here = Path(__file__)
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [python, here], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name: str, arrays: Sequence[Any]) -> float | None:
        """The least seconds of a case."""
        file = Path(self._folder.name) / "arrays.npz"
        kept = {
            f"{x.dtype.name}_{i}": x.astype(np.float32) if x.dtype.name == BRAIN else x
            for i, x in enumerate(arrays)
        }
        np.savez(file, **kept)
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None and answers is not None
        print(json.dumps([name, str(file)]), file=given, flush=True)
        line = answers.readline()
        if not line:
            raise RuntimeError("the process that measures PyTorch has ended: see what it printed")
        return json.loads(line)


def _tensor(name: str, x: Any) -> Any:
    found = torch.from_numpy(x)
    return found.bfloat16() if name.startswith(BRAIN) else found


def _measured(name: str, file: str) -> float | None:
    arrays = np.load(file)
    tensors = [_tensor(key, arrays[key]) for key in arrays.files]

    def program(times: int) -> None:
        for _ in range(times):
            WORK[name](*tensors)

    try:
        return least([program])[0]
    except RuntimeError as error:  # quantile, for one, takes at most 2^24 numbers
        print(f"PyTorch: {name}: {error}", file=sys.stderr)
        return None


def main() -> None:
    """Measure what the input names."""
    global torch
    torch = importlib.import_module("torch")
    for line in sys.stdin:
        print(json.dumps(_measured(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
