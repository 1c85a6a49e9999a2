# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics of models at the edge: one body, many roots, planar and floating joints."""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import compare, pair_of, pinocchio_q, random_q
from model import urdf_text
from model.urdf_text import robot

import hrpsim
from hrpsim.model.system import FIXED

AXIS = '<axis xyz="{} {} {}"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
ORIGIN = '<origin xyz="0.5 -0.2 0.7" rpy="0.3 0.2 0.1"/>'
GRAVITY = np.array([0.0, 0.0, -9.80665])


def link(name: str, mass: float = 1.0) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="0.1 0.2 0.3"/>'
        '<inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return urdf_text.joint(name, kind, parent, child, inside + LIMIT)


def test_a_thrown_body_turns_as_euler_says():
    """I dw = -w x I w + moment about the centre of mass, which falls."""
    model = hrpsim.load_model(robot(link("box", 2.0)))
    I = np.array([[1.0, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 2.0]])
    c = np.array([0.1, 0.2, 0.3])
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v, tau = random_q(model, rng), rng.normal(size=6), rng.normal(size=6)
        dv = hrpsim.forward_dynamics(model, q, v, tau)
        force, moment, w = tau[:3], tau[3:] - np.cross(c, tau[:3]), v[3:]
        dw = np.linalg.solve(I, moment - np.cross(w, I @ w))
        R = hrpsim.link_pose(model, q, "box")[1]
        a_com = force / 2.0 + R.T @ GRAVITY
        a_base = a_com - np.cross(dw, c) - np.cross(w, np.cross(w, c))
        assert dv[3:] == pytest.approx(dw, abs=1e-12)
        assert dv[:3] == pytest.approx(a_base - np.cross(w, v[:3]), abs=1e-12)


def test_a_robot_of_nothing_that_moves_has_empty_dynamics():
    model = hrpsim.load_model(robot(link("box")), base="fixed")
    none = np.zeros(0)
    assert hrpsim.forward_dynamics(model, none, none, none).shape == (0,)
    assert hrpsim.inverse_dynamics(model, none, none, none, {"box": np.ones(6)}).shape == (0,)
    assert hrpsim.mass_matrix(model, none).shape == (0, 0)
    assert hrpsim.link_jacobian(model, none, "box").shape == (6, 0)
    assert hrpsim.energy(model, none, none) == (0.0, 0.0)
    with pytest.raises(hrpsim.ModelError, match="no moving link has a mass"):
        hrpsim.center_of_mass(model, none)


def test_several_roots_on_a_fixed_base():
    text = robot(
        link("room"), link("a"), link("b", 2), link("c", 3), link("d", 4),
        joint("j1", "continuous", "room", "a", ORIGIN + AXIS.format(1, 2, 3)),
        joint("j2", "prismatic", "a", "b", ORIGIN + AXIS.format(0, 1, 1)),
        joint("j3", "prismatic", "room", "c", ORIGIN + AXIS.format(1, 0, 1)),
        joint("j4", "revolute", "room", "d", ORIGIN + AXIS.format(0, -1, 0)),
    )  # fmt: skip
    pair = pair_of(text, "fixed")
    assert pair.model.system.root.tolist() == [0, 0, 2, 3]
    assert max(compare(pair, 30, seed=0).values()) < 1e-12


def test_a_robot_bolted_down_far_away_moves_as_at_home():
    arm = [
        link("a"), link("b", 2), link("c", 3),
        joint("j1", "continuous", "a", "b", ORIGIN + AXIS.format(1, 2, 3)),
        joint("j2", "prismatic", "b", "c", ORIGIN + AXIS.format(0, 1, 1)),
    ]  # fmt: skip
    q, v, tau = np.array([[0.3, -0.2], [1.0, 2.0], [3.0, -4.0]])
    at_home, away = (
        hrpsim.forward_dynamics(
            hrpsim.load_model(
                robot(*arm, link("w"), joint("bolts", "fixed", "w", "a", f'<origin xyz="{x}"/>')),
                base="fixed",
            ),
            q, v, tau,
        )
        for x in ("0 0 0", "1e6 -1e6 1e6")
    )  # fmt: skip
    assert away == pytest.approx(at_home, rel=1e-12)


def test_floating_joints_beside_others_on_a_fixed_base():
    text = robot(
        link("room"), link("ball"), link("arm", 2), link("cup", 3),
        joint("f1", "floating", "room", "ball"),
        joint("f2", "floating", "room", "cup"),
        joint("j", "continuous", "ball", "arm", ORIGIN + AXIS.format(1, 2, 3)),
    )  # fmt: skip
    pair = pair_of(text, "fixed")
    assert pair.model.nv == 13
    assert max(compare(pair, 30, seed=0).values()) < 1e-12


def test_a_planar_joint_is_two_slides_and_a_turn():
    """Also with a skew normal, on a moving body, with something that hangs on it."""
    x, y, normal = hrpsim_axes((1.0, 2.0, -0.5))
    slides = [
        joint("p_x", "prismatic", "a", "m1", ORIGIN + AXIS.format(*x)),
        joint("p_y", "prismatic", "m1", "m2", AXIS.format(*y)),
        joint("p_z", "continuous", "m2", "cart", AXIS.format(*normal)),
    ]
    rest = [link("a"), link("cart", 2), link("pole", 3),
            joint("q", "continuous", "cart", "pole", ORIGIN + AXIS.format(0, 1, 1))]  # fmt: skip
    planar = joint("p", "planar", "a", "cart", ORIGIN + AXIS.format(1, 2, -0.5))
    for base in ("free", "fixed"):
        model = hrpsim.load_model(robot(*rest, planar), base=base)
        middle = ['<link name="m1"/>', '<link name="m2"/>']
        pair = pair_of(robot(*rest, *middle, *slides), base)
        rng = np.random.default_rng(0)
        pair.oracle.gravity.linear = GRAVITY
        for _ in range(20):
            q, v, tau = random_q(model, rng), *rng.normal(size=(2, model.nv))
            theirs = pinocchio.aba(pair.oracle, pair.data, pinocchio_q(pair.oracle, q), v, tau)
            ours = hrpsim.forward_dynamics(model, q, v, tau)
            assert ours == pytest.approx(theirs, rel=1e-11, abs=1e-11)


def hrpsim_axes(normal):
    """Return the two directions in which hrpsim lets a planar joint slide, and its normal."""
    from hrpsim.model.shapes.placement import rotation_with_z_along

    return [[repr(float(a)) for a in column] for column in rotation_with_z_along(normal).T]


def test_a_planar_joint_about_z_is_pinocchios():
    """Pinocchio measures its planar velocity in the moving frame: v' = R(theta)^T v."""
    text = robot(
        link("a"), link("cart", 2), joint("p", "planar", "a", "cart", ORIGIN + AXIS.format(0, 0, 1))
    )
    pair = pair_of(text, "fixed")
    model, rng = pair.model, np.random.default_rng(0)
    pair.oracle.gravity.linear = GRAVITY
    for _ in range(20):
        q, v, dv = rng.uniform(-2, 2, 3), *rng.normal(size=(2, 3))
        A = slide_axes(model)
        c, s = np.cos(q[2]), np.sin(q[2])
        turn = np.array([[c, s], [-s, c]])
        T = np.eye(3)
        T[:2, :2] = turn @ A
        T_rate = np.zeros((3, 3))
        T_rate[:2, :2] = v[2] * np.array([[-s, c], [-c, -s]]) @ A
        theirs = pinocchio.rnea(
            pair.oracle, pair.data, np.array([*(A @ q[:2]), c, s]), T @ v, T @ dv + T_rate @ v
        )
        ours = hrpsim.inverse_dynamics(model, q, v, dv)
        assert ours == pytest.approx(T.T @ theirs, rel=1e-12, abs=1e-12)


def slide_axes(model):
    """Return the directions of the two slides, columns (2, 2) in the planar joint's plane."""
    at_zero = hrpsim.link_pose(model, np.zeros(3), "cart")
    columns = []
    for k in range(2):
        q = np.zeros(3)
        q[k] = 1.0
        moved = hrpsim.link_pose(model, q, "cart")[0] - at_zero[0]
        columns.append((at_zero[1].T @ moved)[:2])
    return np.column_stack(columns)


SENSOR = '<hrpsim reference="{}"><sensor name="s_{}" type="force_torque"/></hrpsim>'


@pytest.mark.parametrize(("base", "sensors"), [("free", "bde"), ("fixed", "de")])
def test_bodies_that_sensors_keep_apart_move_as_if_welded(base, sensors):
    parts = [
        link("a"), link("b", 2), link("c", 3), link("d", 4), link("e", 5),
        joint("w1", "fixed", "a", "b", ORIGIN),
        joint("j", "continuous", "b", "c", ORIGIN + AXIS.format(1, 2, 3)),
        joint("w2", "fixed", "c", "d", ORIGIN),
        joint("w3", "fixed", "d", "e", ORIGIN),
    ]  # fmt: skip
    pair = pair_of(robot(*parts, *(SENSOR.format(n, n) for n in sensors)), base)
    assert pair.model.system.joint_type.tolist().count(FIXED) == len(sensors)
    assert max(compare(pair, 30, seed=0).values()) < 1e-12


def test_a_sensor_at_the_root_of_a_fixed_robot_carries_what_hangs_on_it():
    parts = [
        link("a"), link("b", 2), link("c", 3), joint("w", "fixed", "a", "b", ORIGIN),
        joint("j", "prismatic", "b", "c", ORIGIN + AXIS.format(1, 2, 3)),
    ]  # fmt: skip
    cut = hrpsim.load_model(robot(*parts, SENSOR.format("b", "b")), base="fixed")
    welded = hrpsim.load_model(robot(*parts), base="fixed")
    assert (cut.body_count, welded.body_count) == (2, 1)
    q, v, tau = np.array([0.3]), np.array([0.5]), np.array([2.0])
    ours = hrpsim.forward_dynamics(cut, q, v, tau)
    assert ours == pytest.approx(hrpsim.forward_dynamics(welded, q, v, tau), rel=1e-14)
