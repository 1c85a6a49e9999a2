# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random worlds with extreme but finite numbers, each from a seed, and what a run of one must keep.

`recipe(seed)` is a list of plain calls, which `build` makes: a failure is shrunk by leaving out
entries, and what is left is read as it is.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable

import numpy as np

import hrpsim
from hrpsim import Body, HrpsimError
from hrpsim.engine.compile.lazy_kernels import compile_ahead, declared_lazy_kernels

STEPS = 100
SLOWEST = 60.0  # processor time of a step without end [s]; solvers bound theirs by operation counts
HANGS = 300  # time of the clock after which a call is taken not to come back [s]

Recipe = list[tuple[str, dict]]


def recipe(seed: int) -> Recipe:
    """Return the calls that make the random world of a seed: ("world", options) first."""
    rng = np.random.default_rng(seed)
    wild = rng.random() < 0.5  # numbers over the whole range, or those of everyday life
    calls: Recipe = [("world", _world_options(rng, wild))]
    if rng.random() < 0.7:
        calls.append(("ground", {"height": _coordinate(rng, False)}))
    if rng.random() < 0.5:
        static, share = rng.random() * 2.0, rng.random()
        pair = {"static": static, "kinetic": share * static, "restitution": rng.random()}
        calls.append(("friction", pair))
    for _ in range(int(rng.integers(0, 4))):
        where = {"shape": _shape(rng, wild), **_pose(rng, wild)}
        calls.append(("static", where))
    count = int(min(40, 1 + rng.exponential(6.0)))
    for _ in range(count):
        if rng.random() < 0.15:
            calls.append(("robot", {"urdf": _urdf(rng, wild), **_robot_options(rng)}))
            continue
        body = {"shape": _shape(rng, wild), "mass": _number(rng, -9, 9, wild, 1.0)}
        body |= _pose(rng, wild)
        body["velocity"] = _vector(rng, _speed(rng, wild))
        body["angular_velocity"] = _vector(rng, _speed(rng, wild))
        calls.append(("body", body))
    for _ in range(int(rng.integers(0, 4))):
        calls.append(("connection", _connection(rng, count)))
    for _ in range(int(rng.integers(0, 3))):
        force = _number(rng, -9, 160 if rng.random() < 0.2 else 12, wild, 10.0)
        push = {"body": int(rng.integers(0, count)), "force": _vector(rng, force)}
        calls.append(("push", push))
    return calls


def _number(rng, low: float, high: float, wild: bool, usual: float) -> float:
    if wild and rng.random() < 0.7:
        return float(10.0 ** rng.uniform(low, high))
    return float(usual * 10.0 ** rng.uniform(-1.0, 0.5))


def _vector(rng, length: float) -> list[float]:
    way = rng.normal(size=3)
    if rng.random() < 0.3:
        way = np.eye(3)[rng.integers(0, 3)] * rng.choice([-1.0, 1.0])
    return [float(x) for x in length * way / max(np.linalg.norm(way), 1e-9)]


def _coordinate(rng, wild: bool) -> float:
    size = 10.0 ** rng.uniform(-6, 6) if wild and rng.random() < 0.2 else 1.0
    return float(size * rng.uniform(-1.0, 1.0))


def _pose(rng, wild: bool) -> dict:
    turn = rng.normal(size=4) if rng.random() < 0.6 else np.array([0.0, 0.0, 0.0, 1.0])
    position = [_coordinate(rng, wild) for _ in range(3)]
    return {"position": position, "orientation": [float(x) for x in turn]}


def _speed(rng, wild: bool) -> float:
    kind = rng.random()
    if kind < 0.3:
        return 0.0
    if wild and kind < 0.36:
        return float(10.0 ** rng.uniform(0, 160))
    if wild and kind < 0.6:
        return float(10.0 ** rng.uniform(-9, 9))
    return float(10.0 ** rng.uniform(-2, 2.5))


def _shape(rng, wild: bool) -> tuple:
    size = [_number(rng, -12, 6, wild, 0.3) for _ in range(3)]
    if wild and rng.random() < 0.5:
        size = [0.3 * 10.0 ** rng.uniform(-1, 0.5)] * 2 + [size[2]]
    kind = rng.choice(["Box", "Sphere", "Capsule", "Cylinder", "ConvexHull", "Compound"])
    if kind == "Box":
        return ("Box", size)
    if kind == "Sphere":
        return ("Sphere", size[0])
    if kind in ("Capsule", "Cylinder"):
        return (str(kind), size[0], size[2])
    if kind == "Compound":
        return ("Compound", size[0], size[2])
    return ("ConvexHull", (rng.normal(size=(int(rng.integers(4, 30)), 3)) * size).tolist())


def make_shape(shape: tuple):
    """Return the geometry of a shape in a recipe."""
    kind, *numbers = shape
    if kind == "Compound":
        radius, length = numbers
        ball = hrpsim.Sphere(radius)
        return hrpsim.Compound([(ball, (0.0, 0.0, 0.0)), (ball, (length, 0.0, 0.0))])
    if kind == "ConvexHull":
        return hrpsim.ConvexHull(np.array(numbers[0]))
    return getattr(hrpsim, kind)(*numbers)


def _world_options(rng, wild: bool) -> dict:
    options = {
        "time_step": _number(rng, -6, 0, wild, 3e-3),
        "integrator": str(rng.choice(["semi_implicit", "semi_implicit", "rk4", "euler"])),
        "continuous": bool(rng.random() < 0.8),
        "friction_model": str(rng.choice(["cone", "pyramid", "slip_direction"])),
        "impact_law": str(rng.choice(["simultaneous", "sequential"])),
        "stop": str(rng.choice(["residual", "residual", "relative_change"])),
        "position_projection": bool(rng.random() < 0.2),
        "sleeping": bool(rng.random() < 0.7),
    }
    solver = rng.choice(["", "", "iterative", "direct", "split", "penalty"])
    springs = options["integrator"] == "semi_implicit" and options["friction_model"] == "cone"
    if solver and (solver != "penalty" or springs):
        options["solver"] = str(solver)
    if rng.random() < 0.2:
        options["gravity"] = _vector(rng, _number(rng, -6, 12, wild, 9.8))
    if rng.random() < 0.2:
        options["tolerance"] = float(10.0 ** rng.uniform(-14, 2))
    return options


def _urdf(rng, wild: bool) -> str:
    """Return a tree of 1 to 6 links."""
    links, joints = [], []
    for k in range(int(rng.integers(1, 7))):
        mass, size = _number(rng, -9, 9, wild, 1.0), _number(rng, -12, 6, wild, 0.2)
        at = " ".join(f"{size * x:.9g}" for x in rng.uniform(-1, 1, 3))
        moments = mass * size**2 * np.array([1.0, 1.0, rng.uniform(0.01, 1.9)])
        ixx, iyy, izz = moments
        box = " ".join(f"{size * x:.9g}" for x in rng.uniform(0.1, 1.0, 3))
        links.append(
            f'<link name="l{k}"><inertial><origin xyz="{at}"/><mass value="{mass:.9g}"/>'
            f'<inertia ixx="{ixx:.9g}" iyy="{iyy:.9g}" izz="{izz:.9g}" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial><collision><geometry><box size="{box}"/></geometry></collision></link>'
        )
        if k == 0:
            continue
        kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"])
        axis = " ".join(f"{x:.6f}" for x in rng.normal(size=3))
        effort = _number(rng, -3, 9, wild, 100.0)
        bounds = f'lower="{-rng.random()}" upper="{rng.random()}"'
        limit = f'{bounds} effort="{effort:.6g}" velocity="10"'
        damping = _number(rng, -9, 9, wild, 0.1) if rng.random() < 0.5 else 0.0
        friction = _number(rng, -9, 9, wild, 0.1) if rng.random() < 0.3 else 0.0
        joints.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{int(rng.integers(0, k))}"/>'
            f'<child link="l{k}"/><origin xyz="{at}"/><axis xyz="{axis}"/><limit {limit}/>'
            f'<dynamics damping="{damping:.6g}" friction="{friction:.6g}"/></joint>'
        )
    return f'<robot name="r">{"".join(links)}{"".join(joints)}</robot>'


def _robot_options(rng) -> dict:
    return {
        "base": str(rng.choice(["fixed", "free"])),
        "self_collision": bool(rng.random() < 0.3),
        "height": float(rng.uniform(-1, 1)),
        "rate": float(10.0 ** rng.uniform(-3, 9)) if rng.random() < 0.3 else 0.0,
        "kp": float(10.0 ** rng.uniform(-3, 9)) if rng.random() < 0.5 else 0.0,
    }


def _connection(rng, count: int) -> dict:
    kinds = ["fixed", "ball", "hinge", "slider", "cylindrical", "universal", "distance"]
    made = {
        "a": int(rng.integers(0, count)),
        "b": int(rng.integers(-1, count)),
        "kind": str(rng.choice(kinds)),
    }
    if rng.random() < 0.3:
        made["compliance"] = float(10.0 ** rng.uniform(-12, 3))
    if rng.random() < 0.2:
        made["force_limit"] = float(10.0 ** rng.uniform(-6, 9))
    if rng.random() < 0.5:
        made["solver"] = str(rng.choice(["iterative", "direct"]))
    return made


def build(calls: Recipe) -> tuple[hrpsim.World, list[Callable[[], None]]]:
    """Return the world of a recipe, and what is to be done before each call of `step`.

    What hrpsim refuses, by an error of its own, is left out.
    """
    world = hrpsim.World(**calls[0][1])
    made: list = []
    pushes: list[Callable[[], None]] = []
    for what, given in calls[1:]:
        try:
            _make(world, what, dict(given), made, pushes)
        except HrpsimError:
            if what in ("body", "robot"):
                made.append(None)
    return world, pushes


def _make(world: hrpsim.World, what: str, given: dict, made: list, pushes: list) -> None:
    if what == "ground":
        world.add_ground(**given)
    elif what == "friction":
        world.set_friction("default", "default", **given)
    elif what == "static":
        world.add_static(make_shape(given.pop("shape")), **given)
    elif what == "body":
        made.append(world.add_body(make_shape(given.pop("shape")), **given))
    elif what == "robot":
        made.append(_add_robot(world, **given))
    else:
        numbers = [given.pop(end) for end in ("a", "body", "b") if end in given]
        a, b = ([*(made[n] if 0 <= n < len(made) else None for n in numbers), None])[:2]
        if a is None:  # refused, or left out of a shorter recipe
            return
        if what == "connection":
            world.connect(a, b, **given)
        elif what == "push" and isinstance(a, Body):
            pushes.append(lambda: a.apply_wrench(given["force"]))


def _add_robot(world, urdf, base, self_collision, height, rate, kp):
    model = hrpsim.load_model(urdf, base=base)
    q = model.neutral()
    if base == "free":
        q[2] = height
    v = np.zeros(model.nv)
    v[-1:] = rate
    robot = world.add_robot(model, q, v=v, self_collision=self_collision)
    if kp and robot.joint_names:
        robot.set_gains(kp, 0.1 * kp)
        robot.command(positions=np.ones(len(robot.joint_names)))
    return robot


def run(calls: Recipe, steps: int = STEPS) -> str:
    """Run the world of a recipe; return what ended it early, "" for nothing.

    AssertionError where the state is not finite, a call takes too long, or time and steps disagree.
    """
    try:
        world, pushes = build(calls)
        world.step(0)
    except HrpsimError as error:
        return str(error)
    if pushes:
        for push in pushes:
            push()
    done = 0
    while done < steps:
        n = 1 if done < 10 else 5
        begin = time.process_time()
        signal.alarm(HANGS)
        try:
            world.step(n)
        except HrpsimError as error:
            _check(world, begin, n)
            assert "moves no positive inertia" not in str(error), str(error)
            return str(error)
        _check(world, begin, n)
        done += n
        assert round(world.time / world.time_step) == done
    return ""


def _check(world: hrpsim.World, begin: float, steps: int) -> None:
    took = (time.process_time() - begin) / steps
    assert took < SLOWEST, f"a step took {took:.1f} s"
    for name, entity in world.entities.items():
        for what in (entity.q, entity.v):
            assert np.isfinite(what).all(), f"{name} is not finite: {what}"
        if isinstance(entity, Body):
            length = np.linalg.norm(entity.orientation)
            assert abs(length - 1.0) < 1e-9, f"{name} has a quaternion of length {length}"
    contacts = world.contact_arrays()
    assert np.isfinite(contacts.forces).all() and np.isfinite(contacts.points).all()
    stats = world.stats
    assert stats.contact_count >= 0 and np.isfinite(stats.residual), stats


def outcome(calls: Recipe, steps: int = STEPS) -> str:
    """Run a recipe for so many steps in a child process; return "" or what went wrong.

    Where a call does not come back, an alarm of the system ends the child, compiled code or not.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(HANGS)
        told = ""
        try:
            run(calls, steps)
        except BaseException:
            told = traceback.format_exc()
        with os.fdopen(writing, "w") as out:
            out.write(told[-4000:])
            out.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}; {signal.SIGALRM}: it hung"
    return text


def shrunk(calls: Recipe, fails: Callable[[Recipe], bool]) -> Recipe:
    """Return a recipe with as few calls of `calls` as still fail."""
    k = len(calls) - 1
    while k > 0:
        shorter = calls[:k] + calls[k + 1 :]
        if fails(shorter):
            calls = shorter
        k -= 1
    return calls


def load_kernels() -> None:
    """Let this process have all kernels, for its children: compiling one takes long."""
    for integrator in ("semi_implicit", "rk4", "euler"):
        for solver in (None, "direct", "split"):
            world = hrpsim.World(integrator=integrator, solver=solver)
            world.add_ground()
            world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, (0.0, 0.0, 0.051))
            world.add_body(hrpsim.Cylinder(0.1, 0.1), 1.0, (1.0, 0.0, 0.051), velocity=(-99, 0, 0))
            world.step(3)
    for name in declared_lazy_kernels():
        compile_ahead(world.scene, name)


if __name__ == "__main__":  # seeds first..last, one line each that fails
    load_kernels()
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, last):
        begin = time.perf_counter()
        told = outcome(recipe(seed))
        took = time.perf_counter() - begin
        if told:
            print(f"seed {seed} ({took:.1f} s): {told}", flush=True)
        elif took > 5.0:
            print(f"seed {seed}: {took:.1f} s", flush=True)
