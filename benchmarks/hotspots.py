"""Where does the time of a group of workloads go? A profile to look at when a target is missed.

python benchmarks/hotspots.py GROUP [--lines 30] [--sort tottime] [--lib dovetail]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats

import workloads


def main() -> None:
    """Profile one group in this process and print its most expensive functions."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("group")
    parser.add_argument("--lines", type=int, default=30)
    parser.add_argument("--sort", default="tottime", choices=["tottime", "cumtime", "ncalls"])
    parser.add_argument("--lib", default="dovetail")
    args = parser.parse_args()
    profile = cProfile.Profile()
    figures = profile.runcall(workloads.run, args.lib, [args.group])
    for name, value in figures.items():
        print(f"{name}: {value if isinstance(value, str) else f'{value:.6f} s while profiled'}")
    pstats.Stats(profile).strip_dirs().sort_stats(args.sort).print_stats(args.lines)


if __name__ == "__main__":
    main()
