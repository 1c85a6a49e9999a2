# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Mass, centre of mass and inertia of a link from a motion that pinocchio computes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hrpsim
from hrpsim.fitting import Recording

pinocchio = pytest.importorskip("pinocchio")

LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{i[0]}" ixy="{i[1]}" ixz="{i[2]}" iyy="{i[3]}" iyz="{i[4]}" izz="{i[5]}"/></inertial>
</link><joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/>
<origin xyz="{at}"/><axis xyz="{axis}"/><limit lower="-9" upper="9" effort="99" velocity="99"/>
<dynamics damping="0.3"/></joint>"""
DESCRIBED = ("0 0 -0.15", 0.8, (0.01, 0, 0, 0.01, 0, 0.004))
TRUE_MASS, TRUE_COM = 1.1, np.array([0.02, -0.03, -0.19])
TRUE_INERTIA = np.array([[0.016, 0.002, 0.001], [0.002, 0.012, -0.0015], [0.001, -0.0015, 0.006]])
HAND = "robots.arm.links.hand."
TIME, STEP = np.arange(0.0, 4.0, 0.01), 0.02
COMMAND_TIME = np.arange(0.0, 4.0, STEP)
RATES, PHASES = np.array([7.0, 5.0, 9.0]), np.array([0.0, 1.0, 2.0])
EFFORTS = np.sin(np.outer(COMMAND_TIME, RATES) + PHASES) * [2.0, 2.5, 0.8]
EFFORTS += np.sin(np.outer(COMMAND_TIME, 2.3 * RATES)) * [1.0, 1.0, 0.4]


def arm(com, mass, moments):
    """Return a URDF of three joints about z, y and x, whose last link is given."""
    small = (0.003, 0, 0, 0.003, 0, 0.003)
    parts = (
        ("waist", "base", "0 0 0", "0 0 1", "0 0 -0.05", 0.3, small),
        ("arm", "waist", "0.1 0 0", "0 1 0", "0 0 -0.1", 0.3, small),
        ("hand", "arm", "0 0 -0.2", "1 0 0", com, mass, moments),
    )
    keys = ("name", "parent", "at", "axis", "com", "mass", "i")
    links = "".join(LINK.format(**dict(zip(keys, part))) for part in parts)
    return f'<robot name="arm"><link name="base"/>{links}</robot>'


def motion(urdf):
    """Return q and v (n, 3) of pinocchio's equations of motion with EFFORTS."""
    model = pinocchio.buildModelFromXML(urdf)
    data = model.createData()
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])

    def rate(t, x, effort):
        return np.concatenate(
            [x[3:], pinocchio.aba(model, data, x[:3], x[3:], effort - 0.3 * x[3:])]
        )

    states, x = [], np.zeros(6)
    for effort in EFFORTS:
        ends = np.linspace(0.0, STEP, 3)
        found = solve_ivp(rate, (0.0, STEP), x, t_eval=ends, args=(effort,), rtol=1e-9, atol=1e-11)
        states += [found.y[:, 0], found.y[:, 1]]
        x = found.y[:, 2]
    return np.split(np.array(states), 2, axis=1)


@pytest.mark.long
def test_inertia_of_a_link_is_found(tmp_path):
    """Law: all ten numbers that made a motion are found; the inertia is that of a solid."""
    moments = TRUE_INERTIA[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    q, v = motion(arm(" ".join(map(str, TRUE_COM)), TRUE_MASS, moments))
    noise = np.random.default_rng(0)
    recording = Recording(
        TIME,
        ("waist_joint", "arm_joint", "hand_joint"),
        q + noise.normal(0.0, 1e-4, q.shape),
        v + noise.normal(0.0, 1e-3, v.shape),
        command_time=COMMAND_TIME,
        command_efforts=EFFORTS,
    )
    (tmp_path / "arm.urdf").write_text(arm(*DESCRIBED))
    text = "world: {time_step: 0.001}\nrobots: [{name: arm, urdf: arm.urdf, base: fixed}]\n"
    (tmp_path / "arm.yaml").write_text(text)
    first = {f"{HAND}mass_factor": 1.0}
    first |= {f"{HAND}stretch_{axis}": 1.0 for axis in "xyz"}
    first |= {f"{HAND}shift_{axis}": {"start": 0.0, "between": (-0.2, 0.2)} for axis in "xyz"}
    for axes in ("xy", "xz", "yz"):
        first[f"{HAND}shear_{axes}"] = {"start": 0.0, "between": (-2.0, 2.0)}
    found = hrpsim.fit(tmp_path / "arm.yaml", [recording], first, window=0.2, start="fitted")
    hand = found.inertias["arm.hand"]
    assert hand["mass"] == pytest.approx(TRUE_MASS, rel=0.01)
    assert hand["com"] == pytest.approx(TRUE_COM, abs=1e-3)
    assert hand["inertia"] == pytest.approx(TRUE_INERTIA, abs=2e-4)
    assert found.undetermined == ()
    least, middle, largest = np.linalg.eigvalsh(hand["inertia"])
    assert 0.0 < least
    assert largest < least + middle
