"""Giving a scene the kernels that it uses, compiled or read from the cache when it first does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numba
import numpy as np
from numba.types import float64, int64

from hrpsim.collision.contacts import meet_convex, meet_meshes
from hrpsim.constraints.rows import PENALTY
from hrpsim.jit import late
from hrpsim.jit.compiled import address_of, is_cached
from hrpsim.jit.reference import Reference
from hrpsim.model.system import FREE
from hrpsim.step.impacts.impact_times import let_nothing_pass
from hrpsim.step.impacts.impacts import resolve_impacts
from hrpsim.step.impacts.strike import let_meet
from hrpsim.step.integrate import integrate_rk4
from hrpsim.step.motion.momentum import keep_momentum
from hrpsim.step.motion.motion import turn_freely
from hrpsim.step.motion.stages import solve_stage
from hrpsim.step.motion.tension import add_tension
from hrpsim.step.project import project_connections
from hrpsim.step.rest import count_rest, find_sleepers
from hrpsim.step.rows.constrain import descend_springs, solve_direct_island
from hrpsim.step.rows.grip import seek_grip
from hrpsim.step.rows.prepare import (
    write_connections,
    write_direct_system,
    write_penalties,
    write_springs,
)
from hrpsim.step.scene.scene import RK4, Scene

# By place in Scene.late: kernels that the step calls with the whole scene, and further arguments.
_WITH_SCENE: dict[int, tuple] = {
    late.SPIN: (turn_freely, float64),
    late.IMPACTS: (let_nothing_pass, int64),
    late.STRIKE: (let_meet,),
    late.RK4_STEP: (integrate_rk4,),
    late.STAGES: (solve_stage, int64),
    late.CONNECTIONS: (write_connections, int64),
    late.TENSION: (add_tension, float64),
    late.PROJECTION: (project_connections,),
    late.PENALTY_CONTACTS: (write_penalties,),
    late.SPRING_HINGES: (write_springs, int64, int64),
    late.STEEPEST_DESCENT: (descend_springs,),
    late.DIRECT_SYSTEM: (write_direct_system,),
    late.DIRECT_ISLAND: (solve_direct_island, float64),
    late.REST: (count_rest,),
    late.SLEEP: (find_sleepers,),
    late.RESTITUTION: (resolve_impacts,),
    late.MOMENTUM: (keep_momentum, int64),
    late.GRIP: (seek_grip,),
}

# The same: kernels that it calls with parts of the scene, and what it calls them with.
_WITH_PARTS: dict[int, tuple[Callable, Callable[[Scene], tuple]]] = {
    late.CONVEX: (meet_convex, lambda s: (s.collision.manifold, s.collision.shapes, 0, 0, 0.0)),
    late.MESHES: (
        meet_meshes,
        lambda s: (s.forest, s.kinematics, s.collision, 0, 0.0, 0.0, 0.0, 0),
    ),
}
_KERNELS = {place: entry[0] for place, entry in (_WITH_SCENE | _WITH_PARTS).items()}

# What is needed where one is.
_COMPANIONS = {late.DIRECT_SYSTEM: (late.DIRECT_ISLAND,)}

_addresses: dict[int, int] = {}


def provide(scene: Scene, number: int) -> None:
    """Give a scene the late kernel that it needs, and those that go with it."""
    for place in (number, *_COMPANIONS.get(number, ())):
        if place not in _addresses:
            _addresses[place] = _load(scene, place)
        scene.late[place] = _addresses[place]


def provide_used(scene: Scene) -> None:
    """Give a scene the late kernels that it uses for certain, by what is in it.

    What depends on its motion (pairs of shapes that meet, speeds) or on commands (locks) is asked
    for by the step itself.
    """
    for number, used in _uses(scene).items():
        if used:
            provide(scene, number)
        else:
            scene.late[number] = 0


def late_kernel_names() -> list[str]:
    """Return the names of all late kernels."""
    return [kernel.py_func.__name__ for kernel in _KERNELS.values()]


def compile_late_kernel(scene: Scene, name: str) -> None:
    """Compile a late kernel for the types of a scene, if the cache does not have it."""
    _load(scene, list(_KERNELS)[late_kernel_names().index(name)])


def _uses(scene: Scene) -> dict[int, bool]:
    """Return which late kernels the step calls without asking for them."""
    settings = scene.settings[0]
    rk4 = settings["integrator"] == RK4
    loose = bool(scene.islands.trees["may_sleep"].any())
    connected, sprung = len(scene.connections) > 0, len(scene.spring_hinges) > 0
    return {
        late.STRIKE: rk4,
        late.RK4_STEP: rk4,
        late.CONNECTIONS: connected,
        late.TENSION: connected,
        late.PROJECTION: bool(settings["projection"]),
        late.PENALTY_CONTACTS: bool(np.any(scene.solver_choice == PENALTY)),
        late.SPRING_HINGES: sprung,
        late.STEEPEST_DESCENT: sprung,
        late.SPIN: bool(scene.forest.dofs["turns_freely"].any()),
        late.MOMENTUM: _any_floating_tree(scene),
        late.REST: loose,
        late.SLEEP: loose,
        late.RESTITUTION: bool(np.any(scene.materials["restitution"] > 0.0)),
    }


def _any_floating_tree(scene: Scene) -> bool:
    """Return whether a free body carries others."""
    bodies = scene.forest.bodies
    sizes = np.bincount(bodies["root"], minlength=len(bodies))
    return bool(np.any((bodies["joint_type"] == FREE) & (sizes[bodies["root"]] > 1)))


def _argument_types(scene: Scene, number: int) -> tuple:
    if number in _WITH_SCENE:
        return Reference(scene).numba_type, *_WITH_SCENE[number][1:]
    return tuple(numba.typeof(argument) for argument in _WITH_PARTS[number][1](scene))


def _load(scene: Scene, number: int) -> int:
    """Return the address of a late kernel, compiled if no earlier process did."""
    kernel, types = _KERNELS[number], _argument_types(scene, number)
    if is_cached(kernel):
        return address_of(kernel, types)
    begin = time.perf_counter()
    address = address_of(kernel, types)
    name = kernel.py_func.__name__
    print(
        f"hrpsim: compiled {name} in {time.perf_counter() - begin:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    return address
