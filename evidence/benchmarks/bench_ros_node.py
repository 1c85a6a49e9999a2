# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The ROS node at 1 kHz: message losses, processor time and jitter, and lockstep round trips.

    bench_ros_node.py [soak] [record] [lockstep] [--duration 60] [--steps 100000]

soak: all topics of hrp2_like (36 joints), transforms at 100 Hz, with one subscriber process for
each topic. Sequence numbers and stamps must have no gaps. record: the same topics with the single
process of `hrpsim record`. lockstep: a control period of 1 ms, as fast as possible, with a
controller in another process. One controller receives only joint_states. The other controller is
`hrpsim_controller`, which also receives the sensors. Load averages are printed with the figures. On
a shared machine, compare only runs without other load. The exit status is 1 if a message was lost.
"""

from __future__ import annotations

import argparse
import sys

from ros_node.lockstep import lockstep
from ros_node.soak import record, soak


def main() -> int:
    """Run the named measurements, or all. Return 1 if a message was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="soak|record|lockstep")
    parser.add_argument("--duration", type=float, default=60.0, help="of soak and record [s]")
    parser.add_argument("--steps", type=int, default=100_000, help="of lockstep")
    options = parser.parse_args()
    runs = {
        "soak": lambda: soak(options.duration),
        "record": lambda: record(options.duration),
        "lockstep": lambda: lockstep(options.steps),
    }
    unknown = set(options.what) - set(runs)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(runs)}")
    return 0 if all([runs[name]() for name in options.what or runs]) else 1


if __name__ == "__main__":
    sys.exit(main())
