# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Writes a motion of the HRP-2 like robot as hrpsys's tools lay it out, without hrpsim's writer.

    python test/control/hrpsys_fixture.py FOLDER     # writes FOLDER/greeting.pos and the others

The layouts are those of sets that come with hrpsys-base and of Choreonoid's export: digits of "%g",
two blanks between columns, blanks at the end of lines, a clock that starts at 5.015 s, channels of
other rates and lengths than .pos, .hip without .waist, CRLF, a last line without an end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

START, PERIOD, COUNT = 5.015, 0.005, 301  # 1.5 s of .pos
HALF_SITTING = (0.0, 0.0, -0.4538, 0.8727, -0.4189, 0.0)
JOINT_COUNT = 30  # HRP-2's ids: right leg 0, left leg 6, chest 12, head 14, right arm 16, left 23


def posture(t) -> np.ndarray:
    """Return the 30 joint angles at time t [s] of the file's clock: a bow of the knees, a wave."""
    s = np.clip((np.asarray(t, dtype=np.float64) - START) / 1.5, 0.0, 1.0)
    swell = np.sin(np.pi * s) ** 4
    q = np.zeros((*s.shape, JOINT_COUNT))
    for leg in (0, 6):
        q[..., leg : leg + 6] = HALF_SITTING
        q[..., leg + 2] -= 0.05 * swell
        q[..., leg + 3] += 0.10 * swell
        q[..., leg + 4] -= 0.05 * swell
    q[..., 15] = 0.2 * swell  # head pitch
    q[..., 17] = -0.4 * swell  # right shoulder roll, away from the body
    q[..., 24] = 0.4 * swell
    q[..., 19] = -0.4 * swell * (1.5 - np.cos(6.0 * np.pi * s))  # right elbow
    return q


def write_set(folder: Path) -> Path:
    """Write the set and return its basename."""
    base = Path(folder) / "greeting"
    times = START + PERIOD * np.arange(COUNT)
    lines = [
        "".join(f"{value:g}  " for value in (t, *q)) + "\n" for t, q in zip(times, posture(times))
    ]
    _write(base, "pos", lines)
    _write(
        base, "zmp", [f"{t:g}\t0.0095\t-1.2e-05\t-0.66798 \n" for t in START + 0.002 * np.r_[:700]]
    )
    hip = [f"{t:.4f} 0 {0.01 * np.sin(t - START):g} -0\r\n" for t in START + 0.01 * np.r_[:151]]
    _write(base, "hip", hip)
    _write(base, "gsens", [f"{t:.3f} 0.0 0.0 9.80665 \n" for t in (START, START + 1.5)])
    wrench = "0 0 284.392 0 0 0 " * 2 + "0 0 0 0 0 0 " * 2
    _write(base, "wrenches", [f"{t:g} {wrench}\n" for t in times[::10]])
    _write(base, "optionaldata", [f"{START:g} 1 1 0 0 \n", f"{START + 1.5:g} 1 1 0 0"])
    return base


def _write(base: Path, extension: str, lines: list[str]) -> None:
    Path(f"{base}.{extension}").write_bytes("".join(lines).encode("ascii"))


if __name__ == "__main__":
    print(write_set(Path(sys.argv[1])))
