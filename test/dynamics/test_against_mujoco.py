# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo, which shares no code with Pinocchio, computes the same masses and accelerations."""

import mujoco
import numpy as np
import pytest
from dynamics.oracle import bare_urdf, random_q
from lxml import etree

import hrpsim
from hrpsim.model.load import expand_xacro
from robots import ALL_ROBOTS, HRP2_LIKE

ROBOTS = (
    "hrp2_like",
    "hrp2_like bush",
    "solo_description/solo12",
    "panda_description/panda",
    "double_pendulum_description/double_pendulum_continuous",
    "g1_description/g1_29dof_rev_1_0",
    "talos_data/talos_reduced",
)


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    """The robot on a free base, in hrpsim and in MuJoCo."""
    if request.param.startswith("hrp2_like"):
        text = expand_xacro(HRP2_LIKE, {"bush": request.param.endswith("bush")})
    else:
        text = bare_urdf(etree.parse(ALL_ROBOTS[request.param]).getroot())
    model = hrpsim.load_model(text)
    return model, mujoco_twin(etree.fromstring(text.encode()), model)


def mujoco_twin(root, model):
    """Compile the URDF with a floating joint on top; leave only what hrpsim's functions model."""
    for options in root.findall("mujoco"):
        root.remove(options)
    options = {"fusestatic": "true", "balanceinertia": "false", "inertiafromgeom": "false"}
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", options)
    etree.SubElement(root, "link", name="the_world")
    joint = etree.SubElement(root, "joint", name="the_base", type="floating")
    etree.SubElement(joint, "parent", link="the_world")
    etree.SubElement(joint, "child", link=model.base_link)
    twin = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))
    twin.opt.gravity[:] = 0.0, 0.0, -9.80665
    twin.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    twin.jnt_stiffness[:] = 0.0
    twin.dof_damping[:] = 0.0
    for joint in model.joints[1:]:
        rotor_inertia = model.system.rotor_inertia[joint.v_index]
        twin.dof_armature[twin.joint(joint.name).dofadr[0]] = rotor_inertia
    return twin


def set_state(model, twin, data, q, v) -> None:
    """Write q and v as MuJoCo lays them out: quaternion w x y z, base velocity in the world."""
    base = twin.joint("the_base")
    at, dof = base.qposadr[0], base.dofadr[0]
    data.qpos[at : at + 7] = *q[:3], q[6], *q[3:6]
    R = hrpsim.link_pose(model, q, model.base_link)[1]
    data.qvel[dof : dof + 3] = R @ v[:3]
    data.qvel[dof + 3 : dof + 6] = v[3:6]
    for joint in model.joints[1:]:
        theirs = twin.joint(joint.name)
        data.qpos[theirs.qposadr[0]] = q[joint.q_index]
        data.qvel[theirs.dofadr[0]] = v[joint.v_index]


def their_columns(model, twin, q) -> np.ndarray:
    """Return T with v_mujoco = T v_hrpsim."""
    T = np.zeros((model.nv, model.nv))
    dof = twin.joint("the_base").dofadr[0]
    T[dof : dof + 3, :3] = hrpsim.link_pose(model, q, model.base_link)[1]
    T[dof + 3 : dof + 6, 3:6] = np.eye(3)
    for joint in model.joints[1:]:
        T[twin.joint(joint.name).dofadr[0], joint.v_index] = 1.0
    return T


def test_the_mass_matrix_is_mujocos(robot):
    model, twin = robot
    data = mujoco.MjData(twin)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = random_q(model, rng)
        set_state(model, twin, data, q, np.zeros(model.nv))
        mujoco.mj_forward(twin, data)
        theirs = np.zeros((model.nv, model.nv))
        for row, unit in zip(theirs, np.eye(model.nv)):
            mujoco.mj_mulM(twin, data, row, unit)
        T = their_columns(model, twin, q)
        ours = hrpsim.mass_matrix(model, q)
        scale = np.sqrt(np.outer(np.diag(ours), np.diag(ours)))
        assert np.max(np.abs(ours - T.T @ theirs @ T) / scale) < 1e-9


def test_forward_dynamics_are_mujocos(robot):
    """Base accelerations: MuJoCo's is the rate of the world velocity, ours of the body's."""
    model, twin = robot
    data = mujoco.MjData(twin)
    rng = np.random.default_rng(1)
    dof = twin.joint("the_base").dofadr[0]
    worst = 0.0
    for _ in range(10):
        q, v, dv = random_q(model, rng), rng.normal(size=model.nv), 5.0 * rng.normal(size=model.nv)
        tau = hrpsim.inverse_dynamics(model, q, v, dv)
        set_state(model, twin, data, q, v)
        T = their_columns(model, twin, q)
        data.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        mujoco.mj_forward(twin, data)
        ours = T @ hrpsim.forward_dynamics(model, q, v, tau)
        ours[dof : dof + 3] += T[dof : dof + 3, :3] @ np.cross(v[3:6], v[:3])
        worst = max(worst, np.abs(ours - data.qacc).max() / np.abs(data.qacc).max())
    print(f"\nworst relative difference {worst:.1e}", end="")
    assert worst < 1e-9
