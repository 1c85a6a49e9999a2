# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The inertia that a joint moves: of its own link, or 1 / (M^-1)_kk where the link is light."""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import pair_of

import hrpsim
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.own_inertia import own_inertia

X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


def chain(joints, mass: float, rotor: float = 0.0, light: float = 0.0) -> str:
    """Return a base of 3 kg and joints (type, axis); the last link alone has the `mass` [kg]."""
    text = '<robot name="r">' + _link("base", 3.0)
    for i, (kind, axis) in enumerate(joints):
        last = i == len(joints) - 1
        text += _link(f"l{i}", mass if last else light, "0.1 0.02 -0.2" if last else "0 0 0")
        text += _joint(f"j{i}", f"l{i - 1}" if i else "base", f"l{i}", kind, axis)
        text += f'<hrpsim reference="j{i}"><rotor inertia="{rotor}"/></hrpsim>'
    return text + "</robot>"


def _joint(name: str, above: str, below: str, kind: str, axis: str) -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{above}"/><child link="{below}"/>
      <origin xyz="0.05 0 -0.1" rpy="0 0 0.2"/><axis xyz="{axis}"/>
      <limit lower="-9" upper="9" effort="9" velocity="9"/></joint>"""


def _link(name: str, mass: float, at: str = "0 0 0") -> str:
    if mass == 0.0:
        return f'<link name="{name}"/>'
    return f"""<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>
      <inertia ixx="{0.01 * mass}" iyy="{0.015 * mass}" izz="{0.02 * mass}"
        ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def found(text: str, base: str = "fixed") -> np.ndarray:
    model = hrpsim.load_model(text, base=base, accept_nonphysical_inertia=True)
    return forest_of(model.system).dofs["own_inertia"][-len(model.joint_names) :]


def by_pinocchio(text: str, base: str) -> np.ndarray:
    """1 / (M^-1)_kk of the joints, all at zero, by Pinocchio's composite rigid bodies."""
    pair = pair_of(text, base)
    M = pinocchio.crba(pair.oracle, pair.data, pinocchio.neutral(pair.oracle))
    M = np.triu(M) + np.triu(M, 1).T
    return (1.0 / np.diag(np.linalg.inv(M)))[-len(pair.model.joint_names) :]


BUSHES = {
    "slides": (("prismatic", X), ("prismatic", Y), ("prismatic", Z)),
    "slide and turns": (("prismatic", Z), ("continuous", Y), ("continuous", X)),
    "turns": (("continuous", X), ("continuous", Y), ("continuous", Z)),
}


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("joints", BUSHES.values(), ids=BUSHES.keys())
@pytest.mark.parametrize("light, rotor", [(0.0, 0.0), (1e-3, 0.0), (0.0, 0.1)])
def test_a_light_link_moves_what_it_carries(joints, base, light, rotor):
    """The joint-space inertia of Pinocchio is the truth; the last link counts alone."""
    text = chain(joints, 2.0, rotor, light)
    truth = by_pinocchio(text, base)
    np.testing.assert_allclose(found(text, base)[:-1], truth[:-1], rtol=1e-6)


def test_a_link_with_mass_counts_alone():
    """The slide of a 0.5 kg link that carries 2 kg moves at least 0.5 kg and its rotor."""
    text = chain((("prismatic", X), ("prismatic", Y)), 2.0, light=0.5, rotor=0.1)
    np.testing.assert_allclose(found(text), [0.6, 2.1], rtol=1e-12)


def test_a_link_that_nothing_holds_moves_nothing():
    """Two slides along one line with no mass between: the first may move without any inertia."""
    text = '<robot name="r">' + _link("base", 3.0) + _link("a", 0.0) + _link("b", 2.0)
    text += _joint("j0", "base", "a", "prismatic", X) + _joint("j1", "a", "b", "prismatic", X)
    text = text.replace('rpy="0 0 0.2"', "") + "</robot>"
    assert found(text)[0] < 1e-6


@pytest.mark.parametrize("joints", BUSHES.values(), ids=BUSHES.keys())
def test_its_derivatives_are_differences(joints):
    """By relative changes of bodies and by rotors, against central differences."""
    forest = forest_of(hrpsim.load_model(chain(joints, 2.0, 0.01, 1e-3), base="free").system)
    given, h = own_inertia(forest.bodies, forest.dofs), 1e-6
    for i in range(len(forest.bodies)):
        ends = []
        for sign in (1.0, -1.0):
            bodies = forest.bodies.copy()
            for field in ("mass", "inertia"):
                bodies[field][i] *= 1.0 + sign * h
            ends.append(own_inertia(bodies, forest.dofs).inertia)
        np.testing.assert_allclose(given.by_body[:, i], (ends[0] - ends[1]) / (2 * h), atol=1e-6)
    for j in range(6, len(forest.dofs)):
        ends = []
        for sign in (1.0, -1.0):
            dofs = forest.dofs.copy()
            dofs["rotor_inertia"][j] += sign * h
            ends.append(own_inertia(forest.bodies, dofs).inertia)
        np.testing.assert_allclose(given.by_rotor[:, j], (ends[0] - ends[1]) / (2 * h), atol=1e-6)
