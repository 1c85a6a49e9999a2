# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compare the confidence intervals forecast by `hrpsim fit --excite` with the errors of fits.

python -m evidence.benchmarks.fit_forecasts [ROBOT ...] prints the table of
docs/verification/fits.md. Three robots with a fixed base move for 5 s by the proposed motion. 24
draws of white encoder noise are added. For comparison, a chirp with the same duration and limits is
forecast, too.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import hrpsim
from hrpsim.fitting import Recording
from hrpsim.fitting.excitation import Excitation, ExcitingMotion, Forecast, propose

NOISE, SEEDS = 1e-3, 24  # [rad]
WINDOW, DURATION, PERIOD = 0.5, 5.0, 0.02  # [s]
FREQUENCY, HARMONICS, EVALUATIONS = 4.0, 8, 100
_CONFIDENT = 1.96


class Link(NamedTuple):
    """A link, and the joint to its parent.

    Attributes:
        joint: name of the joint.
        axis: axis of the joint.
        place: position of the joint in the parent [m].
        centre: centre of mass [m].
        mass: mass [kg].
        inertia: moment of inertia about each axis [kg m^2].
        rotor: rotor inertia [kg m^2].
        damping: damping of the joint [Nms/rad].
    """

    joint: str
    axis: str
    place: str
    centre: str
    mass: float
    inertia: float
    rotor: float
    damping: float


ROBOTS = {  # masses and lengths: leg of Unitree Go2, and design A of DFKI's pendulum
    "arm": (Link("shoulder", "0 1 0", "0 0 0", "0 0 -0.3", 1.0, 0.02, 0.05, 0.25),),
    "double pendulum": (
        Link("shoulder", "0 1 0", "0 0 0", "0 0 -0.3", 0.56, 0.003, 0.01, 0.1),
        Link("elbow", "0 1 0", "0 0 -0.3", "0 0 -0.18", 0.60, 0.0035, 0.01, 0.1),
    ),
    "quadruped's leg": (
        Link("hip", "1 0 0", "0 0 0", "0 0 0", 0.68, 0.0007, 0.01, 0.5),
        Link("thigh", "0 1 0", "0 0.0955 0", "0 -0.02 -0.033", 1.15, 0.005, 0.01, 0.4),
        Link("calf", "0 1 0", "0 0 -0.213", "0.006 0 -0.14", 0.24, 0.0015, 0.03, 0.5),
    ),
}
_KP, _KD = 20.0, 0.5


def urdf(links: tuple[Link, ...]) -> str:
    """Return the URDF of a chain of links."""
    parts, parent = ['<robot name="chain"><link name="base"/>'], "base"
    for link in links:
        name = f"{link.joint}_link"
        i = link.inertia
        parts.append(
            f'<link name="{name}"><inertial><origin xyz="{link.centre}"/>'
            f'<mass value="{link.mass}"/>'
            f'<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{link.joint}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="{link.place}"/><axis xyz="{link.axis}"/>'
            '<limit lower="-0.8" upper="0.8" effort="25" velocity="15"/>'
            f'<dynamics damping="{link.damping}"/></joint>'
            f'<hrpsim reference="{link.joint}"><rotor inertia="{link.rotor}"/></hrpsim>'
        )
        parent = name
    return "".join([*parts, "</robot>"])


def excitation(folder: Path, name: str) -> Excitation:
    """Return the excitation for gain, damping and rotor inertia of each joint of a robot."""
    links = ROBOTS[name]
    (folder / "chain.urdf").write_text(urdf(links))
    world = folder / "chain.yaml"
    gains = f"{{'*': [{_KP}, {_KD}]}}"
    world.write_text(
        f"robots:\n  - {{name: chain, urdf: chain.urdf, base: fixed, gains: {gains}}}\n"
    )
    parameters = {}
    for link in links:
        path = f"robots.chain.joints.{link.joint}."
        values = {"kp": _KP, "damping": link.damping, "rotor_inertia": link.rotor}
        parameters |= {f"{path}{field}": value for field, value in values.items()}
    return Excitation(
        world,
        parameters,
        {"position": NOISE},
        window=WINDOW,
        duration=DURATION,
        period=PERIOD,
        harmonics=HARMONICS,
        frequency=FREQUENCY,
        evaluations=EVALUATIONS,
    )


def fits(one: Excitation, motion: ExcitingMotion, seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and half widths (seeds, p) of fits to noisy recordings of a motion."""
    recording, _, _ = one.trial().record(motion)
    errors, halves = [], []
    for seed in range(seeds):
        noise = np.random.default_rng(seed).normal(0.0, NOISE, recording.positions.shape)
        noisy: Recording = replace(recording, positions=recording.positions + noise)
        result = hrpsim.fit(one.world, [noisy], one.parameters, window=one.window, start="fitted")
        errors.append(result.values - result.start)
        halves.append(0.5 * (result.high - result.low))
    return np.array(errors), np.array(halves)


def size_of(errors: np.ndarray, forecast: Forecast) -> float:
    """Return the RMS of errors divided by forecast deviations, 1 for a correct forecast."""
    return float(np.sqrt(np.mean((errors / forecast.half_widths * _CONFIDENT) ** 2)))


def main() -> int:
    """Print the table."""
    chosen = sys.argv[1:] or list(ROBOTS)
    warnings.simplefilter("ignore")
    print(
        "| robot | unknowns | errors over the forecast | widths over the forecast | within the "
        "forecast | smallest singular value, the chirp's | worst half width, the chirp's |"
    )
    print("| --- " * 7 + "|")
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            request = excitation(Path(folder), name)
            proposal = propose(request)
            errors, halves = fits(request, proposal.motion, SEEDS)
            widths = np.mean(halves, axis=0) / proposal.forecast.half_widths
            inside = np.mean(np.abs(errors) <= proposal.forecast.half_widths)
            worst = [
                100.0 * float((each.half_widths / each.scales).max())
                for each in (proposal.forecast, proposal.chirp_forecast)
            ]
            print(
                f"| {name} | {errors.shape[1]} | {size_of(errors, proposal.forecast):.2f} | "
                f"{widths.min():.2f} to {widths.max():.2f} | {100 * inside:.0f} % | "
                f"{proposal.forecast.smallest:.0f}, {proposal.chirp_forecast.smallest:.0f} | "
                f"{worst[0]:.1f} %, {worst[1]:.1f} % |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
