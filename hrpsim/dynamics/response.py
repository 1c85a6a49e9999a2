"""How a factorised forest answers to forces: the whole of it to given loads, and port to port.

A *port* is where constraints push: a body (six columns: a spatial force at the tree's origin) or
a degree of freedom (one column: an effort). The response of ports to unit forces on ports is the
link-space inverse inertia (J M^-1 J^T for the ports' J), found by sweeps along support paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.model.system import FIXED, FREE


class Ports(NamedTuple):
    """The ports of one step; `n` bodies, `p` ports at most, `t` trees (indexed by root body)."""

    count: np.ndarray  # (1,)
    body: np.ndarray  # (p,) body of the port
    dof: np.ndarray  # (p,) degree of freedom, or -1 for the body itself
    offset: np.ndarray  # (p,) first column in the ports' velocity vector
    of_body: np.ndarray  # (n,) port of the body, -1 for none
    of_dof: np.ndarray  # (nv,) port of the degree of freedom, -1 for none
    tree_start: np.ndarray  # (n,) at a root: first column of the tree
    tree_width: np.ndarray  # (n,) at a root: number of columns of the tree
    tree_block: np.ndarray  # (n,) at a root: where the tree's square block starts in `block`
    velocity: np.ndarray  # (columns + 5,) velocity of every port column
    block: np.ndarray  # (pool,) response blocks, row by row
    on_path: np.ndarray  # (n,) bool, body supports a port
    twist: np.ndarray  # (n, 6) work
    sweep: np.ndarray  # (n, 6, 6) work
    answer: np.ndarray  # (n, 6) work


def new_ports(body_count: int, dof_count: int, block_capacity: int) -> Ports:
    """Return empty ports for `body_count` bodies and `dof_count` degrees of freedom."""
    n, most = body_count, body_count + dof_count
    return Ports(
        count=np.zeros(1, dtype=np.int64),
        body=np.zeros(most, dtype=np.int64),
        dof=np.zeros(most, dtype=np.int64),
        offset=np.zeros(most, dtype=np.int64),
        of_body=np.full(n, -1, dtype=np.int64),
        of_dof=np.full(dof_count, -1, dtype=np.int64),
        tree_start=np.zeros(n, dtype=np.int64),
        tree_width=np.zeros(n, dtype=np.int64),
        tree_block=np.zeros(n, dtype=np.int64),
        velocity=np.zeros(6 * n + dof_count + 5),
        block=np.zeros(block_capacity),
        on_path=np.zeros(n, dtype=np.bool_),
        twist=np.zeros((n, 6)),
        sweep=np.zeros((n, 6, 6)),
        answer=np.zeros((n, 6)),
    )


@kernel
def number_ports(system, ports_out):
    """Number the ports whose of_body or of_dof is marked >= 0; return the block space they need.

    Also marks the bodies on the paths from ports to their roots.
    """
    of_body, of_dof, on_path = ports_out.of_body, ports_out.of_dof, ports_out.on_path
    n = system.parent.shape[0]
    count = 0
    column = 0
    needed = 0
    root = -1
    for i in range(n):
        on_path[i] = False
        if system.parent[i] < 0:
            root = i
            ports_out.tree_start[root] = column
            ports_out.tree_width[root] = 0
            ports_out.tree_block[root] = needed
        start = column
        if of_body[i] >= 0:
            of_body[i] = count
            ports_out.body[count] = i
            ports_out.dof[count] = -1
            ports_out.offset[count] = column
            count += 1
            column += 6
        joint = system.joint_type[i]
        if joint != FREE and joint != FIXED:
            k = system.v_index[i]
            if of_dof[k] >= 0:
                of_dof[k] = count
                ports_out.body[count] = i
                ports_out.dof[count] = k
                ports_out.offset[count] = column
                count += 1
                column += 1
        if column > start:
            on_path[i] = True
            added = column - start
            width = ports_out.tree_width[root]
            needed += (width + added) * (width + added) - width * width
            ports_out.tree_width[root] = width + added
    ports_out.count[0] = count
    for i in range(n - 1, -1, -1):
        if on_path[i] and system.parent[i] >= 0:
            on_path[system.parent[i]] = True
    return needed


@kernel
def port_responses(system, kinematics, articulated, ports_out):
    """Write the response block of every tree: column j of a block answers a unit force on j."""
    S, U, D_inverse = kinematics.S, articulated.U, articulated.D_inverse
    X, u = ports_out.sweep, ports_out.answer
    on_path, of_body, of_dof = ports_out.on_path, ports_out.of_body, ports_out.of_dof
    n = system.parent.shape[0]
    for port in range(ports_out.count[0]):
        source = ports_out.body[port]
        dof = ports_out.dof[port]
        root = system.root[source]
        start, width = ports_out.tree_start[root], ports_out.tree_width[root]
        block = ports_out.tree_block[root]
        # up: the unit forces, one a column, carried from the source to the root
        F = X[source]
        for r in range(6):
            for k in range(6):
                F[r, k] = 1.0 if (r == k and dof < 0) else 0.0
        i = source
        while True:
            parent = system.parent[i]
            joint = system.joint_type[i]
            F = X[i]
            if joint != FREE and joint != FIXED:
                for k in range(6):
                    total = 0.0
                    for r in range(6):
                        total += S[i, r] * F[r, k]
                    u[i, k] = total
                if i == source and dof >= 0:
                    u[i, 0] = 1.0
            if parent < 0:
                break
            P = X[parent]
            inverse = D_inverse[i]
            for r in range(6):
                scaled = U[i, r] * inverse
                for k in range(6):
                    P[r, k] = F[r, k] - scaled * u[i, k]
            i = parent
        # down: motions of every body that supports a port
        end = n
        for i in range(root, n):
            if i > root and system.parent[i] < 0:
                end = i
                break
            if not on_path[i]:
                continue
            parent = system.parent[i]
            joint = system.joint_type[i]
            A = X[i]
            if joint == FREE:
                F = X[i]
                inverse6 = articulated.root_inverse[i]
                for k in range(6):
                    f0, f1, f2, f3, f4, f5 = F[0, k], F[1, k], F[2, k], F[3, k], F[4, k], F[5, k]
                    for r in range(6):
                        A[r, k] = (
                            inverse6[r, 0] * f0
                            + inverse6[r, 1] * f1
                            + inverse6[r, 2] * f2
                            + inverse6[r, 3] * f3
                            + inverse6[r, 4] * f4
                            + inverse6[r, 5] * f5
                        )
            else:
                inverse = D_inverse[i]
                for k in range(6):
                    u[i, k] *= inverse
                if parent >= 0:
                    P = X[parent]
                    for r in range(6):
                        scaled = U[i, r] * inverse
                        for k in range(6):
                            u[i, k] -= scaled * P[r, k]
                    for r in range(6):
                        for k in range(6):
                            A[r, k] = P[r, k] + S[i, r] * u[i, k]
                else:
                    for r in range(6):
                        for k in range(6):
                            A[r, k] = S[i, r] * u[i, k]
            column = ports_out.offset[port] - start
            columns = 6 if dof < 0 else 1
            if of_body[i] >= 0:
                row = ports_out.offset[of_body[i]] - start
                for r in range(6):
                    for k in range(columns):
                        ports_out.block[block + (row + r) * width + column + k] = A[r, k]
            if joint != FREE and joint != FIXED and of_dof[system.v_index[i]] >= 0:
                row = ports_out.offset[of_dof[system.v_index[i]]] - start
                for k in range(columns):
                    ports_out.block[block + row * width + column + k] = u[i, k]
        for i in range(root, end):
            if on_path[i]:
                for k in range(6):
                    u[i, k] = 0.0


@kernel
def port_velocities(system, kinematics, velocity, ports_out):
    """Write the velocity of every port under the kernels' `velocity` (nv,)."""
    S, twist = kinematics.S, ports_out.twist
    for i in range(system.parent.shape[0]):
        if not ports_out.on_path[i]:
            continue
        joint = system.joint_type[i]
        parent = system.parent[i]
        if joint == FREE:
            for r in range(6):
                twist[i, r] = velocity[system.v_index[i] + r]
        else:
            rate = velocity[system.v_index[i]] if joint != FIXED else 0.0
            for r in range(6):
                above = twist[parent, r] if parent >= 0 else 0.0
                twist[i, r] = above + S[i, r] * rate
    for port in range(ports_out.count[0]):
        at, k = ports_out.offset[port], ports_out.dof[port]
        if k >= 0:
            ports_out.velocity[at] = velocity[k]
        else:
            for r in range(6):
                ports_out.velocity[at + r] = twist[ports_out.body[port], r]


@kernel
def respond(system, kinematics, articulated, load, effort, da_out, dv_out):
    """Write the change of motion that forces (or impulses) alone cause, gravity and bias apart.

    `load` (n, 6) on bodies ends as the total load of each subtree as its joint passes it on;
    `effort` (nv,) on joints. da_out (n, 6) per body, dv_out (nv,) for the kernels' velocity.
    """
    S, U, D_inverse = kinematics.S, articulated.U, articulated.D_inverse
    n = system.parent.shape[0]
    for i in range(n - 1, -1, -1):
        joint = system.joint_type[i]
        if joint == FREE:
            continue
        parent = system.parent[i]
        gain = 0.0
        if joint != FIXED:
            k = system.v_index[i]
            total = effort[k]
            for r in range(6):
                total += S[i, r] * load[i, r]
            dv_out[k] = total
            gain = total * D_inverse[i]
        if parent >= 0:
            for r in range(6):
                load[parent, r] += load[i, r] - U[i, r] * gain
    for i in range(n):
        joint = system.joint_type[i]
        if joint == FREE:
            k = system.v_index[i]
            for r in range(6):
                total = 0.0
                for s in range(6):
                    total += articulated.root_inverse[i, r, s] * load[i, s]
                da_out[i, r] = total
                dv_out[k + r] = total
            continue
        parent = system.parent[i]
        for r in range(6):
            da_out[i, r] = da_out[parent, r] if parent >= 0 else 0.0
        if joint != FIXED:
            k = system.v_index[i]
            total = dv_out[k]
            for r in range(6):
                total -= U[i, r] * da_out[i, r]
            rate = total * D_inverse[i]
            dv_out[k] = rate
            for r in range(6):
                da_out[i, r] += S[i, r] * rate
