"""How a factorised forest answers, port to port, to forces.

A *port* is where constraints push: a body (six columns: a spatial force at the tree's origin) or
a degree of freedom (one column: an effort). The response of ports to unit forces on ports is the
link-space inverse inertia (J M^-1 J^T for the ports' J), found by sweeps along support paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.compiled import inlined_kernel, inner_kernel
from hrpsim.model.system import FIXED, FREE

PORT = np.dtype(
    [
        ("body", "i8"),
        ("dof", "i8"),  # -1 for the body itself
        ("offset", "i8"),  # first column in the ports' velocity vector
        ("largest", "f8"),  # largest diagonal entry of its own response [1/kg or 1/(kg m^2)]
    ]
)

SUPPORT = np.dtype(
    [
        ("port", "i8"),  # port of the body, -1 for none
        ("on_path", "i8"),  # whether the body supports a port
        ("tree_start", "i8"),  # at a root: first column of the tree
        ("tree_width", "i8"),  # at a root: number of columns of the tree
        ("tree_block", "i8"),  # at a root: where the tree's square block starts in `block`
        ("twist", "f8", (6,)),  # work
        ("answer", "f8", (6,)),  # work; zero outside `port_responses`
        ("sweep", "f8", (6, 6)),  # work
    ]
)


class Ports(NamedTuple):
    """The ports of one step; `n` bodies, `nv` degrees of freedom."""

    supports: np.ndarray  # (n,) SUPPORT
    of_dof: np.ndarray  # (nv,) port of the degree of freedom, -1 for none
    ports: np.ndarray  # (n + nv,) PORT
    velocity: np.ndarray  # (columns + 5,) velocity of every port column
    block: np.ndarray  # (pool,) response blocks, row by row


def new_ports(body_count: int, dof_count: int, block_capacity: int) -> Ports:
    """Return empty ports for `body_count` bodies and `dof_count` degrees of freedom."""
    return Ports(
        supports=np.zeros(body_count, dtype=SUPPORT),
        of_dof=np.full(dof_count, -1, dtype=np.int64),
        ports=np.zeros(body_count + dof_count, dtype=PORT),
        velocity=np.zeros(6 * body_count + dof_count + 5),
        block=np.zeros(block_capacity),
    )


@inner_kernel
def number_ports(forest, ports_out):
    """Number the ports whose `port` or of_dof is marked >= 0; return (count, block space needed).

    Also marks the bodies on the paths from ports to their roots.
    """
    supports, of_dof, ports = ports_out.supports, ports_out.of_dof, ports_out.ports
    n = forest.bodies.shape[0]
    count = column = needed = 0
    for i in range(n):
        body, support = forest.bodies[i], supports[i]
        if body.parent < 0:
            support.tree_start = column
            support.tree_width = 0
            support.tree_block = needed
        start = column
        if support.port >= 0:
            support.port = count
            port = ports[count]
            port.body, port.dof, port.offset = i, -1, column
            count += 1
            column += 6
        if body.joint_type != FREE and body.joint_type != FIXED and of_dof[body.v_index] >= 0:
            of_dof[body.v_index] = count
            port = ports[count]
            port.body, port.dof, port.offset = i, body.v_index, column
            count += 1
            column += 1
        support.on_path = 1 if column > start else 0
        root = supports[body.root]
        width = root.tree_width + column - start
        needed += width * width - root.tree_width * root.tree_width
        root.tree_width = width
    for i in range(n - 1, -1, -1):
        if supports[i].on_path and forest.bodies[i].parent >= 0:
            supports[forest.bodies[i].parent].on_path = 1
    return count, needed


@inner_kernel
def port_responses(forest, kinematics, articulated, port_count, ports_out):
    """Write the response block of every tree: column j of a block answers a unit force on j."""
    supports = ports_out.supports
    n = forest.bodies.shape[0]
    for number in range(port_count):
        port = ports_out.ports[number]
        _carry_up(forest, kinematics, articulated, port, supports)
        root = forest.bodies[port.body].root
        i = root
        while i < n and forest.bodies[i].root == root:
            if supports[i].on_path:
                _carry_down(forest.bodies[i], kinematics[i], articulated[i], supports, i)
                _write_answer(forest.bodies[i], supports, i, root, port, ports_out)
            i += 1
        i = root
        while i < n and forest.bodies[i].root == root:
            if supports[i].on_path:
                for k in range(6):
                    supports[i].answer[k] = 0.0
            i += 1
        port.largest = _largest_response(port, supports[root], ports_out.block)


@inlined_kernel
def _largest_response(port, tree, block):
    """Return the largest diagonal entry of a port's block with itself."""
    at = port.offset - tree.tree_start
    largest = 0.0
    for k in range(at, at + (6 if port.dof < 0 else 1)):
        largest = max(largest, block[tree.tree_block + k * tree.tree_width + k])
    return largest


@inlined_kernel
def _carry_up(forest, kinematics, articulated, port, supports):
    """Carry unit forces on a port, one a column, from its body to the root."""
    i = port.body
    F = supports[i].sweep
    for r in range(6):
        for k in range(6):
            F[r, k] = 1.0 if (r == k and port.dof < 0) else 0.0
    while True:
        body, here = forest.bodies[i], supports[i]
        F, u = here.sweep, here.answer
        if body.joint_type != FREE and body.joint_type != FIXED:
            S = kinematics[i].S
            for k in range(6):
                total = 0.0
                for r in range(6):
                    total += S[r] * F[r, k]
                u[k] = total
            if i == port.body and port.dof >= 0:
                u[0] = 1.0
        if body.parent < 0:
            return
        above = supports[body.parent].sweep
        U, inverse = articulated[i].U, articulated[i].D_inverse
        for r in range(6):
            scaled = U[r] * inverse
            for k in range(6):
                above[r, k] = F[r, k] - scaled * u[k]
        i = body.parent


@inlined_kernel
def _carry_down(body, kinematics_i, articulated_i, supports, i):
    """Turn the forces at body `i` into its motions, given its parent's."""
    here = supports[i]
    A, u = here.sweep, here.answer
    if body.joint_type == FREE:
        inverse = articulated_i.root_inverse
        for k in range(6):
            f0, f1, f2, f3, f4, f5 = A[0, k], A[1, k], A[2, k], A[3, k], A[4, k], A[5, k]
            for r in range(6):
                A[r, k] = (
                    inverse[r, 0] * f0
                    + inverse[r, 1] * f1
                    + inverse[r, 2] * f2
                    + inverse[r, 3] * f3
                    + inverse[r, 4] * f4
                    + inverse[r, 5] * f5
                )
        return
    S, U, D_inverse = kinematics_i.S, articulated_i.U, articulated_i.D_inverse
    for k in range(6):
        u[k] *= D_inverse
    if body.parent < 0:
        for r in range(6):
            for k in range(6):
                A[r, k] = S[r] * u[k]
        return
    above = supports[body.parent].sweep
    for r in range(6):
        scaled = U[r] * D_inverse
        for k in range(6):
            u[k] -= scaled * above[r, k]
    for r in range(6):
        for k in range(6):
            A[r, k] = above[r, k] + S[r] * u[k]


@inlined_kernel
def _write_answer(body, supports, i, root, port, ports_out):
    """Copy the motion of body `i` and its joint to their rows of the tree's block."""
    tree = supports[root]
    column = port.offset - tree.tree_start
    columns = 6 if port.dof < 0 else 1
    block, width = ports_out.block, tree.tree_width
    here = supports[i]
    if here.port >= 0:
        row = ports_out.ports[here.port].offset - tree.tree_start
        at = tree.tree_block + row * width + column
        for r in range(6):
            for k in range(columns):
                block[at + r * width + k] = here.sweep[r, k]
    if body.joint_type != FREE and body.joint_type != FIXED:
        number = ports_out.of_dof[body.v_index]
        if number >= 0:
            row = ports_out.ports[number].offset - tree.tree_start
            at = tree.tree_block + row * width + column
            for k in range(columns):
                block[at + k] = here.answer[k]


@inner_kernel
def port_velocities(forest, kinematics, velocity, port_count, ports_out):
    """Write the velocity of every port under the kernels' `velocity` (nv,)."""
    supports = ports_out.supports
    for i in range(forest.bodies.shape[0]):
        if not supports[i].on_path:
            continue
        body, twist = forest.bodies[i], supports[i].twist
        if body.joint_type == FREE:
            for r in range(6):
                twist[r] = velocity[body.v_index + r]
            continue
        rate = velocity[body.v_index] if body.joint_type != FIXED else 0.0
        S = kinematics[i].S
        if body.parent >= 0:
            above = supports[body.parent].twist
            for r in range(6):
                twist[r] = above[r] + S[r] * rate
        else:
            for r in range(6):
                twist[r] = S[r] * rate
    for number in range(port_count):
        port = ports_out.ports[number]
        if port.dof >= 0:
            ports_out.velocity[port.offset] = velocity[port.dof]
        else:
            twist = supports[port.body].twist
            for r in range(6):
                ports_out.velocity[port.offset + r] = twist[r]
