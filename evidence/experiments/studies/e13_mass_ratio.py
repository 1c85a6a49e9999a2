# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E13: links of 1 kg carry 10 000 and 100 000 kg, hanging, as a boom, and swinging.

The source shows a picture and gives no measures. Here: ten links of 1 kg, 0.1 m long, hung from the
world at the origin, and a ball of 0.3 m radius.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from evidence.experiments.framework.engines import against_mujoco, steps_through
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_most, below
from hrpsim import Box, Sphere, World
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.world.objects.body import rotation_matrix

LINKS = 10
LENGTH = 0.1  # length of a link [m]
WIDTH = 0.03
MASS = 1.0  # mass of a link [kg]
RADIUS = 0.3  # radius of the ball [m]
LARGEST_GAP = 1e-9  # [m]
LARGEST_DRIFT = 0.01  # relative to the weight times one metre
FINE = 1e-4  # time step that resolves the links' vibration under 1e6 N, 1e4 rad/s [s]
COARSE = 1.0 / 60.0
SLOW = {"damping_time": 2.0}  # as in E12: the iteration cannot follow fast corrections
ANGLE = math.radians(30.0)


def our_chain(
    angle: float, load: float, time_step: float, kind: str = "ball", *, joints=None, **options
) -> World:
    """Return a world with the straight chain at rest.

    Args:
        angle: angle from hanging [rad].
        load: mass of the ball [kg].
        time_step: time step [s].
        kind: kind of the joints.
        joints: further arguments of World.connect.
        **options: options of World.
    """
    world = World(time_step, (0.0, 0.0, -GRAVITY), **options)
    along = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    turn = (0.0, -np.sin(angle / 2), 0.0, np.cos(angle / 2))
    parts = [
        world.add_body(Box((WIDTH, WIDTH, LENGTH)), MASS, along * LENGTH * (k + 0.5), turn)
        for k in range(LINKS)
    ]
    parts.append(world.add_body(Sphere(RADIUS), load, along * (LINKS * LENGTH + RADIUS), turn))
    for k, (a, b) in enumerate(zip([None, *parts], parts)):
        world.connect(a, b, kind, point=along * LENGTH * k, **(joints or {}))
    return world


def mujoco_chain(mujoco, angle: float, load: float, time_step: float, integrator: str):
    """Return (MjModel, MjData) of the same chain with ball joints, as a tree."""
    apart = 'contype="0" conaffinity="0"'
    bodies = "".join(
        f'<body pos="0 0 {-LENGTH if k else 0}"><joint type="ball"/><geom type="box" mass="{MASS}" '
        f'size="{WIDTH / 2} {WIDTH / 2} {LENGTH / 2}" pos="0 0 {-LENGTH / 2}" {apart}/>'
        for k in range(LINKS)
    )
    ball = (
        f'<body pos="0 0 {-LENGTH}"><joint type="ball"/><geom type="sphere" size="{RADIUS}" '
        f'pos="0 0 {-RADIUS}" mass="{load}" {apart}/></body>'
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{time_step:.17g}" gravity="0 0 -{GRAVITY}" '
        f'integrator="{integrator}"><flag energy="enable"/></option>'
        f"<worldbody>{bodies}{ball}{'</body>' * LINKS}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:4] = np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0
    return model, data


def largest_gap(world: World) -> float:
    """Return the largest present distance between the two points of any joint [m]."""
    return max(float(np.linalg.norm(c.error[:3])) for c in world.connections.values())


def energy(world: World) -> float:
    """Return kinetic plus potential energy [J].

    The potential energy is 0 at the height of the origin.
    """
    total = 0.0
    for body in world.bodies.values():
        spin = rotation_matrix(body.orientation).T @ body.angular_velocity
        total += 0.5 * body.mass * body.velocity @ body.velocity
        total += 0.5 * spin @ body.system.inertia[0] @ spin
        total += body.mass * GRAVITY * body.position[2]
    return float(total)


def our_line(world: World) -> np.ndarray:
    """Return x and z of the centres (n, 2) [m], with the ball last."""
    return np.array([body.position[[0, 2]] for body in world.bodies.values()])


@dataclass(frozen=True)
class Case:
    """One scene: mass of the ball [kg], joints, angle from hanging [rad], time step [s]."""

    name: str
    load: float
    kind: str = "ball"
    angle: float = 0.0
    time_step: float = COARSE
    projected: bool = False
    duration: float = 10.0  # [s]


HANGING = Case("hanging, 10 000 kg", 1e4)
BOOM = Case("boom of fixed joints, 10 000 kg", 1e4, "fixed", math.pi / 2)
HEAVIER = Case("hanging, 100 000 kg", 1e5)
SWINGING = Case("swinging by 30 deg, 100 000 kg", 1e5, "ball", ANGLE, FINE, False, 2.0)
SWINGING_COARSELY = Case("swinging by 30 deg, 100 000 kg", 1e5, "ball", ANGLE, COARSE, True)


class Motion:
    """The motion of a chain, sampled about 60 times a second.

    Attributes:
        time: (k,) [s].
        gap: gap of the joints (k,) [m], None if the engine has no gaps.
        energy: (k,) [J], None if unknown.
        line: x and z of the centres (k, n, 2) [m].
        end: end of the run, or time of divergence [s].
    """

    def __init__(self, case: Case, step, line, energy, gap=None) -> None:
        every = max(1, round(COARSE / case.time_step))
        samples = round(case.duration / case.time_step / every)
        self.case, self.diverged = case, False
        seen = [(0.0, gap() if gap else 0.0, energy(), line())]
        for k in range(samples):
            if not step(every):
                self.diverged = True
                break
            time = (k + 1) * every * case.time_step
            seen.append((time, gap() if gap else 0.0, energy(), line()))
        self.time, self.gap, self.energy, self.line = map(np.array, zip(*seen))
        self.end = float(self.time[-1])

    @property
    def largest_gap(self) -> float:
        """The largest sampled gap [m], infinite after a divergence."""
        return math.inf if self.diverged else float(self.gap.max())

    @property
    def drop(self) -> float | str:
        """The largest depth of the ball below its initial height [m]."""
        heights = self.line[:, -1, 1]
        return "diverges" if self.diverged else float(heights[0] - heights.min())

    @property
    def drift(self) -> float:
        """The largest change of energy, divided by the weight times 1 m.

        Infinite after a divergence.
        """
        if self.diverged:
            return math.inf
        weight = (self.case.load + LINKS * MASS) * GRAVITY
        return float(np.abs(self.energy - self.energy[0]).max() / weight)


def our_motion(case: Case, solver: str = "direct", joints=None, **options) -> Motion:
    """Simulate hrpsim's chain, and return the motion. joints, options: as for `our_chain`."""
    joints = {"solver": solver} | (joints or {})
    options["position_projection"] = case.projected
    world = our_chain(case.angle, case.load, case.time_step, case.kind, joints=joints, **options)
    parts = (partial(of, world) for of in (our_line, energy, largest_gap))
    return Motion(case, partial(steps_through, world), *parts)


def mujoco_motion(mujoco, case: Case, integrator: str = "implicitfast") -> Motion | None:
    """Simulate MuJoCo's tree of ball joints, which has no gaps.

    The result is None without MuJoCo.
    """
    if mujoco is None or case.kind != "ball":
        return None
    model, data = mujoco_chain(mujoco, case.angle, case.load, case.time_step, integrator)
    bad = mujoco.mjtWarning.mjWARN_BADQACC, mujoco.mjtWarning.mjWARN_BADQPOS
    mujoco.mj_forward(model, data)

    def step(count: int) -> bool:
        mujoco.mj_step(model, data, nstep=count)
        mujoco.mj_forward(model, data)  # updates positions and energy
        return not any(data.warning[k].number for k in bad)

    usual = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)  # warnings are counted, without a log file
    try:
        return Motion(
            case, step, lambda: data.xipos[1:, [0, 2]].copy(), lambda: float(data.energy.sum())
        )
    finally:
        mujoco.set_mju_user_warning(usual)


def add_case(result: Result, case: Case, ours: Motion, peer: Motion | None) -> None:
    """Add rows with gap, drop and energy of the direct solver."""
    step = "1/60 s" if case.time_step == COARSE else f"{case.time_step:g} s"
    how = ", position_projection" if case.projected else ""
    add, lowest = result.of(f"{case.name}, dt {step}{how}: "), 0.0
    if case.kind == "ball":
        lowest = (LINKS * LENGTH + RADIUS) * (1.0 - math.cos(case.angle))
    add("largest gap", "m", ours.largest_gap, below(LARGEST_GAP), analytic=0.0)
    what = "depth of the ball below its start"
    add(what, "m", ours.drop, analytic=lowest, peer=peer and peer.drop)
    label, target = "change of energy / (weight times 1 m)", at_most(LARGEST_DRIFT)
    add(label, "", ours.drift, target, analytic=0.0, peer=peer and peer.drift)


def add_iterative(result: Result, case: Case) -> None:
    """Add rows for the iterative solver with few and many sweeps, and slow and usual correction."""
    for sweeps in (120, 10_000):
        motion = our_motion(case, "iterative", SLOW, sweep_limit=sweeps)
        result.data["motions"][f"iterative, {sweeps} sweeps", case.name] = motion
        add = result.of(f"{case.name}, iterative, {sweeps} sweeps, damping time 2 s: ")
        add("largest gap", "m", motion.largest_gap, analytic=0.0)
        add("depth of the ball below its start", "m", motion.drop, analytic=0.0)
    usual = our_motion(case, "iterative")
    end = usual.end if usual.diverged else "none"
    result.add(f"{case.name}, iterative, 120 sweeps: time of divergence", "s", end)


def run(options: Options) -> Result:
    """Run every case with the direct solver, and two cases also with the iterative solver.

    `quick` leaves out the case with the smallest time step.
    """
    mujoco, result = against_mujoco("a tree of ball joints, implicitfast")
    result.data["motions"] = motions = {}
    cases = (HANGING, BOOM, HEAVIER, SWINGING, SWINGING_COARSELY)
    for case in cases:
        if options.quick and case is SWINGING:
            continue
        motion = motions["direct", case.name, case.time_step] = our_motion(case)
        add_case(result, case, motion, mujoco_motion(mujoco, case))
        if case in (HANGING, BOOM):
            add_iterative(result, case)
    result.notes += [
        "The source shows a picture without measures. The scene here: "
        + " ".join(__doc__.split("Here: ")[1].split()),
        "Under a tension T [N], a link of mass m and length l between ball joints vibrates at "
        "sqrt(12 T / (m l)), here 1e4 rad/s.",
        "Gaps are sampled 60 times a second. inf means that a step had no finite result.",
    ]
    return result


def draw(result: Result, figure) -> None:
    """Draw chains at some times on the left, and the largest gap over time on the right."""
    left, right = figure.subplots(1, 2)
    for k, (key, motion) in enumerate(result.data["motions"].items()):
        name = ", ".join(key[:2])
        if len(key) == 3 and motion.case.time_step == FINE:
            name += f", dt {FINE:g} s"
        gap = np.where(motion.gap < 1e3, motion.gap + 1e-17, np.nan)
        right.semilogy(motion.time, gap, lw=1, color=f"C{k}", label=name)
        if key[0] != "direct" or motion.case.angle == ANGLE:
            for at in np.flatnonzero(np.abs(motion.line).max(axis=(1, 2)) < 2.0)[::24][:5]:
                x, z = np.vstack([[0.0, 0.0], motion.line[at]]).T
                left.plot(x, z, color=f"C{k}", lw=0.8)
                left.plot(x[-1], z[-1], "o", color=f"C{k}", ms=6, mfc="none")
    right.axhline(LARGEST_GAP, color="black", ls="--", lw=0.8)
    left.set(title="Chains and ball at some moments", xlabel="x [m]", ylabel="z [m]")
    left.set_aspect("equal", adjustable="datalim")
    right.set(title="Largest gap of a joint", xlabel="time [s]", ylabel="gap [m]")
    right.legend(fontsize=6, frameon=False, ncol=2, loc="upper center", bbox_to_anchor=(0.4, -0.15))


EXPERIMENT = Experiment(
    "E13", "Light links carry a heavy load", "AGX Dynamics notes, mass ratio", run, draw
)
