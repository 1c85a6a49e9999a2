# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact problems of worlds as matrices, and in files.

The files have the format of fclib (Acary, Bremond, Huber 2014), the collection of frictional
contact problems read by Siconos and others: an HDF5 file with the group fclib_local.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from hrpsim.common.errors import WorldError, shown_value
from hrpsim.common.extras import missing_package
from hrpsim.common.file_names import is_file
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import Matrix, Vector
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.constraints.friction_laws import CONE
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.solvers.contact_problem import ContactProblem, ContactProblemError
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.world.prepared_step import prepared

if TYPE_CHECKING:
    from types import ModuleType

    from scipy.sparse import spmatrix

    from hrpsim.world.world import World

_COLUMNS, _ROWS = -1, -2  # fclib's `nz` of matrices in compressed column and row format


@kernel
def write_contact_matrix(
    scene: Scene, velocity: Vector, matrix_out: Matrix, free_out: Vector
) -> None:
    """Write the Delassus matrix W, and the velocity of each row without impulses.

    The velocity is relative to the target of the row [m/s].

    Args:
        scene: a prepared step of n rows.
        velocity: work array with the length of `constrained.velocity`.
        matrix_out: W (n, n), written.
        free_out: velocities (n,) [m/s], written.
    """
    rows, count = scene.rows.rows, scene.counts[0].row_count
    for i in range(count):
        free_out[i] = row_velocity(rows[i], scene.constrained.velocity) - rows[i].target
    for j in range(count):
        for k in range(velocity.shape[0]):
            velocity[k] = 0.0
        apply_impulse(rows[j], 1.0, scene.rows.response, velocity)
        for i in range(count):
            matrix_out[i, j] = row_velocity(rows[i], velocity)


def contact_problem(world: World) -> ContactProblem:
    """Return the contact problem of the next step of a world. The world does not change.

    The impulses r of the problem are in Ns. The vector b includes the position corrections and the
    restitution of the step. The solution r therefore equals the impulses of a step with
    `semi_implicit`.

    Raises:
        WorldError: `world` is not a World, the step has no contacts, has other rows than contacts
            (joint limits, connections, locks), has compliant or penalty contacts, has a friction
            model other than `cone`, or uses an integrator other than `semi_implicit`.
    """
    if not hasattr(world, "integrator"):
        raise WorldError(f"world must be a World, such as robot.world, got {shown_value(world)}")
    if not INTEGRATORS[world.integrator].is_implicit:
        raise WorldError(
            f"a step of the integrator {world.integrator!r} is not one contact problem with one"
            " matrix. Make the world with integrator='semi_implicit'"
        )
    scene = prepared(world.copy())
    counts = scene.counts[0]
    count, contacts = int(counts["row_count"]), int(counts["contact_count"])
    if count == 0:
        raise WorldError("the next step has no contacts. A contact problem needs at least one")
    if count != 3 * contacts:
        raise WorldError(
            f"{count - 3 * contacts} rows of the next step are not contacts (joint limits,"
            " connections, locks, drives). A contact problem has contacts only"
        )
    rows = scene.rows.rows[:count]
    if (rows["compliance"] > 0.0).any():
        raise WorldError(
            "contacts of the next step are compliant. A contact problem needs rigid contacts"
        )
    if (rows["friction_model"][::3] != CONE).any():
        raise WorldError(
            "the friction model of the next step is not a cone. A contact problem needs "
            "friction_model='cone'"
        )
    if (rows["choice"] == PENALTY).any():
        raise WorldError("penalty contacts are springs. A contact problem needs rigid contacts")
    W, b = np.zeros((count, count)), np.zeros(count)
    write_contact_matrix(TupleReference(scene), np.zeros_like(scene.constrained.velocity), W, b)
    return ContactProblem(0.5 * (W + W.T), b, rows["friction"][::3].copy())


def dump_contact_problem(world: World | ContactProblem, path: str | os.PathLike) -> ContactProblem:
    """Write the contact problem of the next step to a file in the format of fclib.

    Return the problem.

    Args:
        world: a problem, or a world (see `contact_problem`). The world does not change.
        path: the HDF5 file, which is replaced. Writing needs the package h5py: hrpsim[fclib].

    Raises:
        WorldError: the next step has no contact problem.
    """
    from scipy import sparse

    problem = world if isinstance(world, ContactProblem) else contact_problem(world)
    matrix = sparse.csr_matrix(problem.W)
    with _h5py().File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], np.int32)
        sizes = {"nzmax": matrix.nnz, "m": matrix.shape[0], "n": matrix.shape[1], "nz": _ROWS}
        for name, size in sizes.items():
            group[f"W/{name}"] = np.array([size], np.int32)
        group["W/p"], group["W/i"] = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        group["W/x"] = matrix.data
        group["vectors/q"], group["vectors/mu"] = problem.b, problem.mu
    return problem


def load_contact_problem(path: str | os.PathLike) -> ContactProblem:
    """Return the contact problem of a file in the format of fclib, with W as a csr_matrix.

    Raises:
        ContactProblemError: the file has another format, is two-dimensional, or has sizes that do
            not fit.
    """
    if not is_file(path):
        raise ContactProblemError(f"{path}: the file does not exist, or is not a regular file")
    try:
        with _h5py().File(path, "r") as file:
            if "fclib_local" not in file:
                raise ContactProblemError(f"{path}: no group fclib_local. Is it a file of fclib?")
            group = file["fclib_local"]
            if int(np.ravel(group["spacedim"][()])[0]) != 3:
                raise ContactProblemError(f"{path}: spacedim must be 3")
            W = _read_matrix(group["W"], str(path))
            b, mu = (np.array(group[f"vectors/{name}"], np.float64) for name in ("q", "mu"))
    except ContactProblemError:
        raise
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as cause:
        raise ContactProblemError(f"{path}: not readable as a file of fclib: {cause}") from cause
    if W.shape != (len(b), len(b)) or len(b) != 3 * len(mu):
        raise ContactProblemError(
            f"{path}: W {W.shape}, q ({len(b)},) and mu ({len(mu)},) have sizes that do not fit "
            "each other"
        )
    return ContactProblem(W, b, mu)


def _read_matrix(group: Any, path: str) -> spmatrix:
    """Return a matrix of fclib: triplets, or compressed by columns or rows."""
    from scipy import sparse

    m, n, kind = (int(np.ravel(group[name][()])[0]) for name in ("m", "n", "nz"))
    p, i, x = (np.ravel(group[name][()]) for name in ("p", "i", "x"))
    if kind in (_COLUMNS, _ROWS):
        made = sparse.csc_matrix if kind == _COLUMNS else sparse.csr_matrix
        matrix = made((x, i, p), shape=(m, n))
        matrix.check_format(full_check=True)  # otherwise conversions may read beyond the arrays
        return matrix.tocsr()
    if kind < 0 or not len(p) == len(i) == len(x) == kind:
        raise ValueError(f"W has nz = {kind} with {len(x)} entries")
    return sparse.coo_matrix((x, (i, p)), shape=(m, n)).tocsr()


def _h5py() -> ModuleType:
    """Return the module h5py. MissingPackageError names the extra if h5py is not installed."""
    try:
        import h5py
    except ModuleNotFoundError as error:
        raise missing_package("files of contact problems", error) from error
    return h5py
