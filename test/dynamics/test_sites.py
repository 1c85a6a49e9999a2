# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Site responses are J M^-1 J^T, and `wrench_response` is M^-1 J^T f, by dense algebra."""

from collections import Counter

import numpy as np
import pytest
from dynamics.oracle import random_q
from dynamics.trees import random_tree
from interpreted import interpreted

import hrpsim
from hrpsim.engine.compile.fields import allocate
from hrpsim.engine.dynamics.articulated import (
    _NEGLIGIBLE,
    factorise,
    new_articulated,
    start_bodies,
    wrench_response,
)
from hrpsim.engine.dynamics.constraint_bodies import (
    ConstraintBodies,
    constrained_sizes,
    forget_numbers,
    number_constraint_bodies,
)
from hrpsim.engine.dynamics.response import constrained_responses, constrained_velocities
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.engine.spatial.simd import LANES
from hrpsim.model.system import FREE, JOINT_NV
from robots import HRP2_LIKE

respond_to, number, respond, move, place, start, factor = map(
    interpreted,
    (
        *(wrench_response, number_constraint_bodies, constrained_responses),
        *(constrained_velocities, update_poses, start_bodies, factorise),
    ),
)


def answer_ports(forest, kinematics, articulated, velocity, constrained_out):
    count, needed = number(forest, constrained_out)
    respond(forest, kinematics, articulated, count, constrained_out)
    move(forest, kinematics, velocity, count, constrained_out)
    return count, needed


class Factorised:
    """A model at a configuration, factorised, beside dense M and body Jacobians for the kernels.

    The kernels' velocity of a free base is angular, then linear, along the world's axes.
    """

    def __init__(self, model, q):
        self.model, self.forest = model, forest_of(model.system)
        self.kinematics = new_kinematics(model.body_count)
        self.articulated = new_articulated(model.body_count)
        place(self.forest, q, self.kinematics)
        start(self.forest, self.kinematics, self.articulated)
        rotors, effort = model.system.rotor_inertia, np.zeros(model.nv)
        assert factor(self.forest, self.kinematics, rotors, effort, self.articulated) == -1
        self.to_public = np.eye(model.nv)
        for joint in model.joints:
            if joint.joint_type == FREE:
                k, R = joint.v_index, self.kinematics[joint.body]["R"]
                self.to_public[k : k + 6, k : k + 6] = 0.0
                self.to_public[k : k + 3, k + 3 : k + 6] = R.T
                self.to_public[k + 3 : k + 6, k : k + 3] = R.T
        self.M = self.to_public.T @ hrpsim.mass_matrix(model, q) @ self.to_public
        self.body_jacobians = [self._jacobian(q, i) for i in range(model.body_count)]

    def _jacobian(self, q, body):
        """Return J (6, nv): spatial velocity of a body about its tree's origin, angular first."""
        link = next(f.name for f in self.model.frames.values() if f.body == body)
        J = hrpsim.link_jacobian(self.model, q, link) @ self.to_public
        origin = self.kinematics[self.model.system.root[body]]["origin"]
        point = hrpsim.link_pose(self.model, q, link)[0] - origin
        return np.vstack([J[3:], J[:3] + np.cross(point, J[3:], axisa=0, axisb=0, axisc=0)])


TWO_ROOTS = """<robot name="two"><link name="room"/>{}</robot>""".format(
    "".join(
        f'<link name="{n}"><inertial><mass value="{m}"/><origin xyz="0.1 0.2 0.3"/>'
        '<inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial></link>'
        f'<joint name="j{n}" type="{kind}"><parent link="{parent}"/><child link="{n}"/>'
        '<origin xyz="0.5 -0.2 0.7" rpy="0.3 0.2 0.1"/><axis xyz="1 2 3"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for n, m, kind, parent in (
            ("a", 1, "continuous", "room"),
            ("b", 2, "prismatic", "a"),
            ("c", 3, "floating", "room"),
            ("d", 4, "continuous", "c"),
            ("e", 5, "prismatic", "room"),
        )
    )
)

MODELS = {
    "hrp2_like": lambda: hrpsim.load_model(HRP2_LIKE),
    "hrp2_like bush": lambda: hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True}),
    "hrp2_like fixed": lambda: hrpsim.load_model(HRP2_LIKE, base="fixed"),
    "several roots": lambda: hrpsim.load_model(TWO_ROOTS, base="fixed"),
    **{
        f"tree {seed}": lambda seed=seed: hrpsim.load_model(random_tree(seed, 12))
        for seed in range(4)
    },
}


@pytest.fixture(scope="module", params=MODELS)
def factorised(request):
    model = MODELS[request.param]()
    return Factorised(model, random_q(model, np.random.default_rng(0)))


def close(ours, theirs) -> bool:
    return np.abs(ours - theirs).max() <= 1e-10 * np.abs(theirs).max()


def test_respond_is_the_inverse_mass_matrix_times_the_load(factorised):
    f, rng = factorised, np.random.default_rng(1)
    for _ in range(5):
        loads, effort = rng.normal(size=(f.model.body_count, 6)), rng.normal(size=f.model.nv)
        for joint in f.model.joints:
            if joint.joint_type == FREE:
                effort[joint.v_index : joint.v_index + 6] = 0.0
        f.articulated["constraint_wrench"] = loads
        dv = np.full(f.model.nv, np.nan)
        respond_to(f.forest, f.kinematics, f.articulated, effort, dv)
        total = effort + sum(J.T @ load for J, load in zip(f.body_jacobians, loads, strict=True))
        expected = np.linalg.solve(f.M, total)
        assert close(dv, expected)
        for i, J in enumerate(f.body_jacobians):
            assert (
                np.abs(f.articulated[i]["delta_acceleration"] - J @ expected).max()
                <= 1e-9 * np.abs(dv).max()
            )


@pytest.mark.parametrize("seed", range(6))
def test_blocks_are_the_link_space_inverse_inertia(factorised, seed):
    """Whatever bodies and joints are constraint bodies; trees answer only to themselves."""
    f, rng = factorised, np.random.default_rng(seed)
    n, nv = f.model.body_count, f.model.nv
    share = (0.1, 0.5, 1.0)[seed % 3]
    constrained = allocate(ConstraintBodies, constrained_sizes(n, nv, (6 * n + nv + LANES) ** 2))
    constrained.inverse_inertia[:] = np.nan
    bodies = np.flatnonzero(rng.random(n) < share)
    one_dof = np.isin(np.arange(nv), [j.v_index for j in f.model.joints if j.joint_type != FREE])
    dofs = np.flatnonzero((rng.random(nv) < share) & one_dof)
    velocity = rng.normal(size=nv)
    # The step before had other constraint bodies; nothing of it may be left.
    constrained.marked[:] = rng.random(n) < 0.5
    constrained.of_dof[one_dof] = 0
    answer_ports(f.forest, f.kinematics, f.articulated, velocity, constrained)
    constrained.marked[:], constrained.of_dof[:] = 0, -1
    constrained.marked[bodies] = 1
    constrained.of_dof[dofs] = 0
    count, needed = answer_ports(f.forest, f.kinematics, f.articulated, velocity, constrained)
    assert count == len(bodies) + len(dofs)
    J, roots = port_jacobian(f, constrained, count)
    dense = J @ np.linalg.solve(f.M, J.T)
    assert needed == sum(columns * padded(columns) for columns in Counter(roots).values())
    for root in set(roots):
        tree, own = constrained.supports[root], roots == root
        start, width, at, columns = *tree[["tree_start", "tree_width", "tree_block"]], own.sum()
        assert width == padded(columns)
        block = constrained.inverse_inertia[at : at + columns * width].reshape(columns, width)
        assert close(block[:, :columns], dense[np.ix_(own, own)])
        assert close(constrained.velocity[start : start + columns], J[own] @ velocity)


def padded(columns):
    return -(-columns // LANES) * LANES


def port_jacobian(f, constrained, count):
    """Return J of all velocity entries (columns, nv), and the root of the tree of each column."""
    rows, roots = [], []
    for constraint_body in constrained.bodies[:count]:
        root = int(f.model.system.root[constraint_body["body"]])
        assert constraint_body["offset"] == constrained.supports[root]["tree_start"] + roots.count(
            root
        )
        if constraint_body["dof"] >= 0:
            rows.append(np.eye(f.model.nv)[[constraint_body["dof"]]])
        else:
            rows.append(f.body_jacobians[constraint_body["body"]])
        roots += [root] * len(rows[-1])
    return np.vstack(rows or [np.zeros((0, f.model.nv))]), np.array(roots, dtype=int)


def test_the_models_have_the_joints_they_should():
    types = [int(t) for t in MODELS["several roots"]().system.joint_type]
    assert sorted(JOINT_NV[t] for t in types) == [1, 1, 1, 1, 6]


def test_numbers_that_stay_serve_at_other_configurations():
    """Where the same bodies are pushed again nothing is numbered, and blocks are those of anew."""
    model = MODELS["hrp2_like"]()
    rng = np.random.default_rng(3)
    n, nv = model.body_count, model.nv
    kept = allocate(ConstraintBodies, constrained_sizes(n, nv, (6 * n + nv + LANES) ** 2))
    for bodies in ([5, 11], [5, 11], [2, 5, 11], [5, 11], [0]):
        f = Factorised(model, random_q(model, rng))
        anew = allocate(ConstraintBodies, constrained_sizes(n, nv, (6 * n + nv + LANES) ** 2))
        for constrained in (kept, anew):
            constrained.marked[:], constrained.of_dof[:] = 0, -1
            constrained.marked[bodies] = 1
            answered = answer_ports(
                f.forest, f.kinematics, f.articulated, np.zeros(nv), constrained
            )
            assert answered[0] == len(bodies)
        columns = 6 * len(bodies)
        blocks = [
            constrained.inverse_inertia[: columns * padded(columns)].reshape(columns, -1)[
                :, :columns
            ]
            for constrained in (kept, anew)
        ]
        np.testing.assert_array_equal(*blocks)
    forget_numbers(kept)
    assert not kept.supports["known_count"].any()


SLIDE_OR_HINGE = """<robot name="one"><link name="room"/><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="{}"><parent link="room"/><child link="a"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(("kind", "own"), [("continuous", 0), ("prismatic", 3)])
@pytest.mark.parametrize("large", range(6))
def test_an_inertia_of_rounding_is_none(kind, own, large):
    """Law: a joint sees no inertia where it is nothing beside the trace of its kind's block.

    Moments of inertia do not count for a slide, nor masses for a hinge.
    """
    model = hrpsim.load_model(SLIDE_OR_HINGE.format(kind), base="fixed")
    forest, kinematics = forest_of(model.system), new_kinematics(model.body_count)
    axis = own + (large + 1) % 3  # another one than that of the large inertia
    kinematics["S"][0] = 0.0
    kinematics["S"][0, axis] = 1.0
    for seen in (0.5, 2.0):
        articulated = new_articulated(model.body_count)
        articulated["I_A"][0, large, large] = 1.0
        found = factor(forest, kinematics, [seen * _NEGLIGIBLE], np.zeros(1), articulated)
        assert (found == -1) == (seen > 1.0 or not own <= large < own + 3)
