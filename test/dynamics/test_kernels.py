# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Habits of the kernels: one compiled signature each, whatever arrays users hand in."""

import importlib
import pkgutil

import numpy as np
import pytest

import hrpsim
from hrpsim.analysis import Analyser, FixedPhase, Observer
from hrpsim.engine.compile.compiled import Kernel
from hrpsim.engine.compile.kinds import text_of
from hrpsim.engine.dynamics.articulated import workspace_of
from hrpsim.engine.kinematics.forest import BODY, DOF, forest_of
from robots import HRP2_LIKE

# In a world, gravity is a field of the settings record, which numba types apart from an array.
ALLOWED = {"hrpsim.engine.dynamics.articulated.accelerations": 2}


def kernels() -> dict[str, Kernel]:
    """Return every kernel that Python may call, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(hrpsim.__path__, "hrpsim."):
        if module.name.split(".")[1] in {"ros", "viewer", "experiments", "cli", "__main__"}:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Kernel) and value.__module__ == module.name:
                if not value.inner:
                    found[f"{module.name}.{name}"] = value
    return found


def use_everything() -> None:
    """Call all public functions, with arrays of several kinds, and step a scene of each kind."""
    for arguments, base in (({}, "free"), ({"bush": True}, "fixed")):
        model = hrpsim.load_model(HRP2_LIKE, base=base, xacro_arguments=arguments)
        q, v = model.neutral(), np.zeros(model.nv)
        strided, single = np.repeat(v, 2)[::2], v.astype(np.float32)
        frozen = v.copy()
        frozen.flags.writeable = False
        for rate in (v, strided, single, frozen, v.tolist()):
            dv = hrpsim.forward_dynamics(model, q, rate, rate)
            hrpsim.inverse_dynamics(model, q, rate, dv[::-1], {model.link_names[0]: np.ones(6)})
            hrpsim.forward_dynamics_derivatives(model, q, rate, rate)
            hrpsim.inverse_dynamics_derivatives(model, q, rate, dv[::-1])
            hrpsim.energy(model, q, rate)
        M = hrpsim.mass_matrix(model, q)
        hrpsim.forward_dynamics(model, q, M[:, 0], M[0])
        hrpsim.center_of_mass(model, q)
        for link in model.link_names:
            hrpsim.link_pose(model, q, link)
            hrpsim.link_jacobian(model, q, link)
    analyse_motions()
    for integrator in ("semi_implicit", "rk4", "euler"):
        world = hrpsim.World(integrator=integrator)
        world.add_ground()
        robot = world.add_robot(hrpsim.load_model(HRP2_LIKE))
        box = world.add_body(hrpsim.Box((0.1, 0.2, 0.3)), mass=1.0, position=(2.0, 0.0, 0.2))
        world.step(2)
        robot.q = robot.q
        robot.v = robot.v
        box.apply_wrench((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
        world.step(2)
        world.restore(world.snapshot())
        world.step(1)


def analyse_motions() -> None:
    """Call the analysis with arrays of several kinds, on many threads, and sample by sample."""
    model = hrpsim.load_model(HRP2_LIKE)
    q, v = np.tile(model.neutral(), (3000, 1)), np.zeros((3000, model.nv))
    soles = ("l_sole", "r_sole")
    frozen = v.copy()
    frozen.flags.writeable = False
    for split in ("minimum_norm", "center_of_pressure"):
        analyser = Analyser(model, soles, split=split, threads=2)
        phases = [FixedPhase(0, soles), FixedPhase(1000, soles[1:])]
        for rate in (v, np.asfortranarray(v), v.astype(np.float32), frozen):
            analyser.analyse(q, rate, rate[::-1], phases)
        analyser.analyse(q[:1].tolist(), v[:1], v[:1], "l_sole")
        observer = Observer(analyser, soles)
        observer.update(np.repeat(q[0, 7:], 2)[::2], v[0, 6:], frozen[0, 6:])
        observer.follow_soles()
        observer.update(q[0, 7:], v[0, 6:], v[0, 6:])


@pytest.mark.long
@pytest.mark.timeout(1200)  # compiles the whole step where no earlier run did
def test_each_kernel_has_one_signature_after_everything_ran():
    """A second one is a slow, silent compilation: an array that is not C-contiguous float64."""
    everything = kernels()
    # Other tests of this process may have called some with arrays of their own.
    most = {name: max(1, len(kernel.codes)) for name, kernel in everything.items()} | ALLOWED
    use_everything()
    several = {
        name: [text_of(kinds) for kinds in kernel.codes]
        for name, kernel in everything.items()
        if len(kernel.codes) > most[name]
    }
    assert several == {}
    used = {name for name, kernel in everything.items() if kernel.codes}
    assert {
        "hrpsim.engine.step.step.advance",
        "hrpsim.engine.dynamics.articulated.factorise",
    } <= used
    assert "hrpsim.analysis.samples.analyse_samples" in used


def test_the_workspace_holds_c_contiguous_records():
    model = hrpsim.load_model(HRP2_LIKE)
    hrpsim.mass_matrix(model, model.neutral())
    space = workspace_of(model).whole
    arrays = [*space.forest, *(x for x in space if isinstance(x, np.ndarray))]
    assert len(arrays) == len(space) + len(space.forest) - 1
    for array in arrays:
        assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned


def test_a_forest_has_the_numbers_of_its_system():
    system = hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True}).system
    forest = forest_of(system)
    for name in BODY.names:
        assert (forest.bodies[name] == getattr(system, name)).all(), name
    for name in set(DOF.names) - {"body", "q_index", "own_inertia", "turns_freely"}:
        assert (forest.dofs[name] == getattr(system, name)).all(), name
    assert (forest.dofs["body"] == system.dof_body).all()
    assert (forest.dofs["q_index"][:6] == -1).all()
    assert (forest.dofs["q_index"][6:] == np.arange(7, 7 + len(forest.dofs) - 6)).all()


def test_workspaces_go_with_their_models():
    """A program that loads robots for ever must not grow."""
    import gc
    import weakref

    model = hrpsim.load_model(HRP2_LIKE)
    hrpsim.mass_matrix(model, model.neutral())
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
