# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every algorithm gives Pinocchio's numbers, on every robot that example-robot-data ships.

`pytest -s` shows the worst relative errors; `dynamics.report` makes a table of them.
"""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import (
    QUANTITIES,
    REPRESENTATIVE,
    compare,
    pair_of,
    pinocchio_q,
    random_q,
    robot_pair,
)

import hrpsim
from robots import EXAMPLE_ROBOTS

OTHERS = [name for name in EXAMPLE_ROBOTS if name not in REPRESENTATIVE]
TOLERANCE = {name: 1e-12 for name in QUANTITIES}
TOLERANCE |= {"ABA": 1e-9, "RNEA": 1e-11, "CRBA": 1e-9, "ABA derivatives": 1e-9}
BASES = ("free", "fixed")


def check(name: str, base: str, state_count: int) -> None:
    pair = robot_pair(name, base)
    if pair.model.nv == 0:
        return  # one link fixed to the world: Pinocchio crashes on it
    worst = compare(pair, state_count, seed=0)
    print(f"\n{name} {base}: " + ", ".join(f"{k} {x:.1e}" for k, x in worst.items()), end="")
    assert {k: x for k, x in worst.items() if x > TOLERANCE[k]} == {}


@pytest.mark.quick_cases("hrp2_like bush-free", "hrp2_like-fixed", "anymal*-fixed", "iris*-free")
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_robots_of_all_kinds_at_200_states(name, base):
    check(name, base, 200)


@pytest.mark.quick_cases(
    "double_pendulum*",
    "hector*",
    "go2*",
    "simple_humanoid*",
    "panda*",
    "romeo_description/romeo_small*",
    "human_*",
    "solo*",
)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", OTHERS)
def test_all_other_robots_at_10_states(name, base):
    check(name, base, 10)


@pytest.mark.parametrize("base", BASES)
def test_random_efforts_give_pinocchios_accelerations(base):
    """Also where the efforts are not those of a moderate motion."""
    pair = robot_pair("hrp2_like bush", base)
    rng = np.random.default_rng(1)
    for _ in range(50):
        q, v = random_q(pair.model, rng), rng.normal(size=pair.model.nv)
        tau = 100.0 * rng.normal(size=pair.model.nv)
        pair.oracle.gravity.linear = np.array([0.0, 0.0, -9.80665])
        theirs = pinocchio.aba(pair.oracle, pair.data, pinocchio_q(pair.oracle, q), v, tau)
        ours = hrpsim.forward_dynamics(pair.model, q, v, tau)
        assert np.abs(ours - theirs).max() < 1e-11 * np.abs(theirs).max()


def test_gravity_points_where_it_is_told_to():
    pair = robot_pair("hrp2_like", "fixed")
    rng = np.random.default_rng(2)
    q, v, dv = (random_q(pair.model, rng), *rng.normal(size=(2, pair.model.nv)))
    gravity = np.array([1.0, -2.0, 3.0])
    pair.oracle.gravity.linear = gravity
    theirs = pinocchio.rnea(pair.oracle, pair.data, pinocchio_q(pair.oracle, q), v, dv)
    ours = hrpsim.inverse_dynamics(pair.model, q, v, dv, gravity=gravity)
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    back = hrpsim.forward_dynamics(pair.model, q, v, ours, gravity=gravity)
    assert back == pytest.approx(dv, abs=1e-10)


def test_a_rotor_inertia_is_pinocchios_armature():
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
      <origin xyz="0.3 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      </link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
      <axis xyz="0 1 0"/></joint>
      <hrpsim reference="j"><rotor inertia="0.5"/></hrpsim></robot>"""
    pair = pair_of(text, "fixed")
    assert pair.model.system.rotor_inertia.tolist() == [0.5]
    assert hrpsim.mass_matrix(pair.model, [0.2])[0, 0] == pytest.approx(1.0 + 0.09 + 0.5)
    assert max(compare(pair, 20, seed=0).values()) < 1e-13


def test_wrenches_may_be_given_as_rows_in_the_order_of_the_links():
    model = robot_pair("hrp2_like", "free").model
    rng = np.random.default_rng(3)
    q, v, tau = (random_q(model, rng), *rng.normal(size=(2, model.nv)))
    rows = rng.normal(size=(len(model.link_names), 6))
    by_name = dict(zip(model.link_names, rows, strict=True))
    expected = hrpsim.forward_dynamics(model, q, v, tau, by_name)
    assert (hrpsim.forward_dynamics(model, q, v, tau, rows) == expected).all()
