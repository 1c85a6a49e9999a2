# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Print a table of the worst relative errors against Pinocchio, for docs/verification.

In the folder test, with hrpsim installed: python -m dynamics.report [states] [--all]
"""

import argparse

import pinocchio
from dynamics.oracle import QUANTITIES, REPRESENTATIVE, compare, robot_pair

from robots import EXAMPLE_ROBOTS


def table(state_count: int, names) -> str:
    """Return a markdown table with a row for each robot and base."""
    lines = [
        f"Worst relative error against Pinocchio {pinocchio.__version__}, "
        f"{state_count} random states a row.",
        "",
        "| robot | base | nv | " + " | ".join(QUANTITIES) + " |",
        "| --- | --- | --- |" + " --- |" * len(QUANTITIES),
    ]
    for name in names:
        for base in ("free", "fixed"):
            pair = robot_pair(name, base)
            if pair.model.nv == 0:
                continue
            worst = compare(pair, state_count, seed=0)
            cells = [name, base, str(pair.model.nv), *(f"{worst[k]:.0e}" for k in QUANTITIES)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("states", type=int, nargs="?", default=200, help="random states a robot")
    parser.add_argument("--all", action="store_true", help="every robot of example-robot-data")
    arguments = parser.parse_args()
    names = list(dict.fromkeys([*REPRESENTATIVE, *(EXAMPLE_ROBOTS if arguments.all else ())]))
    print(table(arguments.states, names))


if __name__ == "__main__":
    main()
