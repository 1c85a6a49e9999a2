# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the first step of a plain robot compiles: few kernels.

Compiling takes nearly all of the first step from nothing, and most of that is Numba's work for each
function. A rare path belongs into a kernel of its own (`lazy_kernel`), which a plain robot does not
compile.
"""

import hrpsim
from hrpsim.engine.compile.compile_progress import functions_of
from hrpsim.engine.compile.lazy_kernels import _declared, declared_lazy_kernels
from hrpsim.engine.step.step import advance

# Functions that are compiled for the first step of a humanoid on level ground, inner ones
# included. A function within two kernels counts twice: different processes compile these.
MOST_FUNCTIONS = 366
LAZY = "hrpsim.engine.compile.lazy_kernels."  # where calls of lazy kernels are compiled apart


def compiled_for_a_plain_robot() -> dict[str, set[str]]:
    """Return the functions within each kernel that the first step of a standing humanoid loads."""
    world = hrpsim.load_world(hrpsim.share_path("config/stand.yaml"))
    world.step()
    assert world.stats.contact_count > 0
    present = world.scene.lazy_kernels[0]
    kernels = {"advance": advance}
    kernels |= {name: _declared[name].kernel for name in declared_lazy_kernels() if present[name]}
    return {
        name: {one for one in functions_of(kernel) if not one.startswith(LAZY)}
        for name, kernel in kernels.items()
    }


def test_a_plain_robot_compiles_few_kernels():
    """Law: a kernel more, or functions more, for all robots are a choice, not an accident."""
    found = compiled_for_a_plain_robot()
    assert {"advance", "find_contacts", "prepare_rows", "solve_rows"} <= set(found)
    listed = "\n".join(f"{name}: {', '.join(sorted(found[name]))}" for name in sorted(found))
    assert sum(map(len, found.values())) <= MOST_FUNCTIONS, listed


def test_what_a_plain_robot_does_not_use_is_not_compiled_for_it():
    """Rare paths: other shapes than boxes on a plane, position corrections, penalty contacts."""
    whole = set().union(*compiled_for_a_plain_robot().values())
    names = {name.rpartition(".")[2] for name in whole}
    assert "box_on_plane" in names
    rare = {"cylinder_on_plane", "sphere_on_sphere", "bound_displacement", "write_penalty_rows"}
    assert not names & rare
