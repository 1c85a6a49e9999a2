# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The same robot in hrpsim and in Pinocchio, random states of it, and how far the two are apart."""

from typing import NamedTuple

import numpy as np
import pinocchio
from lxml import etree

import hrpsim
from evidence.benchmarks.engines.pinocchio_algorithms import pinocchio_q
from hrpsim.model.load import expand_xacro
from hrpsim.model.readers.urdf.description import MOVING_TYPES
from hrpsim.model.system import FREE
from robots import ALL_ROBOTS, HRP2_LIKE, NONPHYSICAL_ROBOTS

# Robots of all kinds for many states; the others of example-robot-data are for a few.
REPRESENTATIVE = (
    "hrp2_like",
    "hrp2_like bush",
    "talos_data/talos_full_v2",
    "romeo_description/romeo",
    "icub_description/icub",
    "anymal_b_simple_description/anymal",
    "panda_description/panda",
    "iris_description/iris",
)
DERIVATIVES = ("ABA derivatives", "RNEA derivatives")
QUANTITIES = ("ABA", "RNEA", "CRBA", *DERIVATIVES, "FK", "Jacobian", "CoM", "energy")


class Pair(NamedTuple):
    model: hrpsim.Model
    oracle: pinocchio.Model
    data: pinocchio.Data
    frame_ids: dict[str, int]  # link -> Pinocchio's frame


def pair_of(text: str, base: str, *, accept_nonphysical_inertia: bool = False) -> Pair:
    """Load URDF text twice; Pinocchio is told of rotor inertia, which its URDF reader ignores."""
    model = hrpsim.load_model(
        text, base=base, accept_nonphysical_inertia=accept_nonphysical_inertia
    )
    root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
    oracle = pinocchio.buildModelFromXML(model.urdf, *root)
    oracle.armature = model.system.rotor_inertia
    ids = {f.name: i for i, f in enumerate(oracle.frames) if f.type == pinocchio.FrameType.BODY}
    return Pair(model, oracle, oracle.createData(), ids)


def robot_pair(name: str, base: str) -> Pair:
    """Return hrp2_like, "hrp2_like bush" or a robot of example-robot-data."""
    if name.startswith("hrp2_like"):
        text = expand_xacro(HRP2_LIKE, {"bush": name.endswith("bush")})
        return pair_of(text, base)
    nonphysical = name in NONPHYSICAL_ROBOTS
    massless = nonphysical or name.startswith("icub_description")  # links that only rotors resist
    text = bare_urdf(etree.parse(ALL_ROBOTS[name]).getroot(), 1e-3 if massless else 0.0)
    return pair_of(text, base, accept_nonphysical_inertia=nonphysical)


def bare_urdf(root, rotor_inertia: float = 0.0) -> str:
    """Return URDF text without shapes, whose meshes lie elsewhere.

    A rotor inertia on every joint makes the accelerations of nonphysical robots well defined.
    """
    for link in root.iterfind("link"):
        for element in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(element)
    if rotor_inertia > 0.0:
        for joint in root.findall("joint"):
            if joint.get("type") in MOVING_TYPES:
                element = etree.SubElement(root, "hrpsim", reference=joint.get("name"))
                etree.SubElement(element, "rotor", inertia=repr(rotor_inertia))
    return etree.tostring(root, encoding="unicode")


def random_q(model, rng) -> np.ndarray:
    q = rng.uniform(-2.0, 2.0, model.nq)
    for joint in model.joints:
        if joint.joint_type == FREE:
            at = slice(joint.q_index + 3, joint.q_index + 7)
            q[at] /= np.linalg.norm(q[at])
    return q


def random_wrenches(model, rng) -> dict[str, np.ndarray]:
    links = rng.choice(model.link_names, min(3, len(model.link_names)), replace=False)
    return {str(link): rng.normal(size=6) * 10.0 for link in links}


def random_state(model, seed: int):
    """Return q, v, dv and wrenches of links, the same for a seed."""
    rng = np.random.default_rng(seed)
    q, v, dv = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    return q, v, dv, random_wrenches(model, rng)


def oracle_wrenches(pair: Pair, wrenches: dict) -> list:
    """Return Pinocchio's fext: one force a joint, in the joint's frame."""
    forces = [pinocchio.Force.Zero() for _ in pair.oracle.joints]
    for link, wrench in wrenches.items():
        frame = pair.oracle.frames[pair.frame_ids[link]]
        forces[frame.parentJoint] += frame.placement.act(pinocchio.Force(wrench))
    return forces


def compare(pair: Pair, state_count: int, seed: int) -> dict[str, float]:
    """Return the worst relative error of every quantity over random states.

    Each coordinate is measured by its own largest value over the states, lest an error in a finger
    hide behind the trunk's numbers; M by sqrt(M_ii M_jj), FK and CoM by 1 m beside their size,
    a matrix of derivatives by its largest entry or 0.1.
    """
    rng = np.random.default_rng(seed)
    pairs = {name: [] for name in QUANTITIES}
    for _ in range(state_count):
        for name, numbers in _both(pair, rng).items():
            pairs[name].append(numbers)
    worst = {}
    for name, numbers in pairs.items():
        ours, theirs = (np.array(side) for side in zip(*numbers, strict=True))
        assert np.isfinite(ours).all(), name
        size = np.abs(theirs).max(axis=0)
        if name == "CRBA":
            diagonal = np.sqrt(np.maximum(np.diagonal(size), 1e-300))
            size = np.outer(diagonal, diagonal)
        elif name in DERIVATIVES:
            size = size.max(axis=(1, 2), keepdims=True, initial=0.1)  # those that vanish
        elif name in ("FK", "Jacobian", "CoM"):
            size = np.maximum(size, 1.0)
        else:
            size = np.maximum(size, 1e-6 * size.max(initial=1e-9))
        worst[name] = float(np.max(np.abs(ours - theirs) / size, initial=0.0))
    return worst


def _both(pair: Pair, rng) -> dict[str, tuple]:
    """Return (hrpsim's, Pinocchio's) numbers for every quantity at one random state.

    The efforts are those of a moderate random acceleration, for random ones would whirl a finger
    at 1e6 rad/s^2, beside which nothing else counts.
    """
    model, oracle, data, frame_ids = pair
    q, v, dv = random_q(model, rng), rng.normal(size=model.nv), 5.0 * rng.normal(size=model.nv)
    wrenches = random_wrenches(model, rng)
    q_oracle, forces = pinocchio_q(pair.oracle, q), oracle_wrenches(pair, wrenches)
    oracle.gravity.linear = np.array([0.0, 0.0, -9.80665])
    tau = pinocchio.rnea(oracle, data, q_oracle, v, dv, forces).copy()
    M = pinocchio.crba(oracle, data, q_oracle)
    M = np.triu(M) + np.triu(M, 1).T
    numbers = {
        "RNEA": (hrpsim.inverse_dynamics(model, q, v, dv, wrenches), tau),
        "CRBA": (hrpsim.mass_matrix(model, q), M),
        "ABA": (
            hrpsim.forward_dynamics(model, q, v, tau, wrenches),
            pinocchio.aba(oracle, data, q_oracle, v, tau, forces).copy(),
        ),
        "energy": (
            hrpsim.energy(model, q, v),
            (
                0.5 * v @ M @ v,  # computeKineticEnergy leaves rotors of some joints out
                pinocchio.computePotentialEnergy(oracle, data, q_oracle) + springs(model, q),
            ),
        ),
    }
    com = pinocchio.centerOfMass(oracle, data, q_oracle).copy()
    numbers["CoM"] = (hrpsim.center_of_mass(model, q), com)
    pinocchio.computeJointJacobians(oracle, data, q_oracle)
    pinocchio.updateFramePlacements(oracle, data)
    poses = [hrpsim.link_pose(model, q, link) for link in frame_ids]
    numbers["FK"] = (
        [np.vstack([p, R]) for p, R in poses],
        [np.vstack([data.oMf[i].translation, data.oMf[i].rotation]) for i in frame_ids.values()],
    )
    links = [*frame_ids][:: max(1, len(frame_ids) // 4)]
    aligned = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    theirs = [pinocchio.getFrameJacobian(oracle, data, frame_ids[k], aligned) for k in links]
    numbers["Jacobian"] = (
        [hrpsim.link_jacobian(model, q, link) for link in links],
        [J.reshape(6, model.nv) for J in theirs],  # flat for a robot of one joint
    )
    numbers["RNEA derivatives"] = (
        np.array(hrpsim.inverse_dynamics_derivatives(model, q, v, dv, wrenches)),
        [*rnea_derivatives(pair, q_oracle, v, dv, forces), M],
    )
    numbers["ABA derivatives"] = (
        np.array(hrpsim.forward_dynamics_derivatives(model, q, v, tau, wrenches)),
        aba_derivatives(pair, q_oracle, v, tau, forces),
    )
    return numbers


def rnea_derivatives(pair: Pair, q, v, dv, forces) -> np.ndarray:
    """Return Pinocchio's derivatives of tau by q and v (2, nv, nv).

    Its tangent space is ours: a free-flyer moves along and turns about its own axes, and forces on
    joints turn with the joints.
    """
    pinocchio.computeRNEADerivatives(pair.oracle, pair.data, q, v, dv, forces)
    return np.array([pair.data.dtau_dq, pair.data.dtau_dv])


def aba_derivatives(pair: Pair, q, v, tau, forces) -> np.ndarray:
    """Return Pinocchio's derivatives of the acceleration by q, v and tau (3, nv, nv)."""
    data = pair.data
    pinocchio.computeABADerivatives(pair.oracle, data, q, v, tau, forces)
    return np.array([data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T])


def springs(model, q: np.ndarray) -> float:
    """Return the energy of the joint springs [J], which Pinocchio does not know."""
    joints = [joint for joint in model.joints if joint.joint_type != FREE]
    stretch = q[[j.q_index for j in joints]] - model.system.rest[[j.v_index for j in joints]]
    stiffness = model.system.stiffness[[j.v_index for j in joints]]
    return 0.5 * float(stiffness @ stretch**2)
