# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Wrong arguments end in an error that names them, and never in NaN."""

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, StateError

LINK = (
    '<link name="{}"><inertial><mass value="{}"/><origin xyz="0.1 0 0"/>'
    '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="{}"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)


def solid(name):
    return LINK.format(name, 2, 1, 2, 2.5)


def empty(name):
    return f'<link name="{name}"/>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


@pytest.fixture(scope="module")
def model():
    return hrpsim.load_model(
        robot(solid("a"), solid("b"), JOINT.format("j", "continuous", "a", "b", "0 0 1"))
    )


def call(function, model, **changed):
    arguments = {"q": model.neutral(), "v": np.zeros(model.nv), "last": np.zeros(model.nv)}
    wrenches, gravity = changed.pop("wrenches", None), changed.pop("gravity", (0, 0, -9.81))
    arguments |= changed
    return function(model, *arguments.values(), wrenches, gravity=gravity)


FORWARD = (hrpsim.forward_dynamics, hrpsim.forward_dynamics_derivatives)
INVERSE = (hrpsim.inverse_dynamics, hrpsim.inverse_dynamics_derivatives)
both = pytest.mark.parametrize("function", [*FORWARD, *INVERSE])


@both
@pytest.mark.parametrize(("argument", "length"), [("q", 8), ("v", 7), ("last", 7), ("gravity", 3)])
def test_a_wrong_length_is_refused_with_the_right_one(model, function, argument, length):
    name = {"last": "tau" if function in FORWARD else "dv"}.get(argument, argument)
    for wrong in (np.zeros(length + 1), np.zeros(length - 1), np.zeros((length, 1)), 0.0):
        with pytest.raises(StateError, match=rf"^{name} must have shape \({length},\), got \("):
            call(function, model, **{argument: wrong})


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("argument", "length"), [("q", 8), ("v", 7), ("last", 7), ("gravity", 3)])
def test_a_number_that_is_not_finite_is_refused_with_its_place(
    model, function, argument, length, bad
):
    name = {"last": "tau" if function in FORWARD else "dv"}.get(argument, argument)
    values = model.neutral() if argument == "q" else np.zeros(length)
    values[2] = bad
    with pytest.raises(StateError, match=rf"^{name}\[2\] is -?(nan|inf)"):
        call(function, model, **{argument: values})


@both
@pytest.mark.parametrize("wrong", [["x"] * 7, "velocities", [1j] * 7, [[1], [2, 3]], None])
def test_what_is_no_number_is_refused(model, function, wrong):
    with pytest.raises(StateError, match=r"^v must be 7 numbers, got "):
        call(function, model, v=wrong)


@pytest.mark.parametrize("length", [0.0, 1e-7, 1e7])
def test_a_quaternion_far_from_unit_length_is_refused(model, length):
    q = model.neutral()
    q[6] = length
    for function in (hrpsim.mass_matrix, hrpsim.center_of_mass):
        with pytest.raises(StateError, match=r"q\[3:7\], the quaternion x y z w of joint 'root_jo"):
            function(model, q)
    with pytest.raises(StateError, match="It should be 1"):
        hrpsim.link_pose(model, q, "a")


def test_links_that_do_not_exist_are_named_with_those_that_do(model):
    q = model.neutral()
    for function in (hrpsim.link_pose, hrpsim.link_jacobian):
        with pytest.raises(ModelError, match=r"link 'c' does not exist.*Available: a, b"):
            function(model, q, "c")
    for given in ("c", 3):
        with pytest.raises(ModelError, match=f"link '{given}' does not exist.*Available: a, b"):
            call(hrpsim.forward_dynamics, model, wrenches={given: np.zeros(6)})


@both
def test_wrenches_are_checked(model, function):
    with pytest.raises(StateError, match=r"the wrench of 'b' must have shape \(6,\), got \(3,\)"):
        call(function, model, wrenches={"b": np.zeros(3)})
    with pytest.raises(StateError, match=r"the wrench of 'b'\[5\] is nan"):
        call(function, model, wrenches={"b": [0, 0, 0, 0, 0, np.nan]})
    for wrong in (np.zeros((3, 6)), np.zeros(6), [[1], [2, 3]], 7.0, "b"):
        with pytest.raises(StateError, match=r"must map link names to wrenches or have shape \(2"):
            call(function, model, wrenches=wrong)


@both
def test_a_wrench_on_the_world_is_checked_and_does_nothing(function):
    arm = hrpsim.load_model(
        robot(solid("a"), solid("b"), JOINT.format("j", "continuous", "a", "b", "0 0 1")), "fixed"
    )
    assert call(function, arm, wrenches={"a": np.ones(6)}) == call(function, arm)
    with pytest.raises(StateError, match="the wrench of 'a'"):
        call(function, arm, wrenches={"a": [np.nan] * 6})


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_numbers_too_large_to_compute_with_are_refused(model):
    fast = np.full(model.nv, 1e200)
    for function, name in (
        (hrpsim.forward_dynamics, "acceleration"),
        (hrpsim.inverse_dynamics, "generalised force"),
        (hrpsim.forward_dynamics_derivatives, "derivative"),
        (hrpsim.inverse_dynamics_derivatives, "derivative"),
    ):
        with pytest.raises(StateError, match=f"the {name} would not be finite"):
            call(function, model, v=fast)
    with pytest.raises(StateError, match="the energy would not be finite"):
        hrpsim.energy(model, model.neutral(), fast)


# What hangs on the base by massless links: the joint that nothing resists, at all angles zero.
UNRESISTED = {
    "a massless leaf": (("continuous", "a", "x", "0 0 1"),),
    "a massless slide": (("prismatic", "a", "x", "0 0 1"),),
    "two turns about one line": (
        ("continuous", "a", "x", "0.3 0.5 0.7"),
        ("continuous", "x", "b", "0.3 0.5 0.7"),
    ),
    "two slides along one line": (
        ("prismatic", "a", "x", "0.3 0.5 0.7"),
        ("prismatic", "x", "b", "0.3 0.5 0.7"),
    ),
    "a gimbal in lock": (
        ("continuous", "a", "x", "1 0 0"),
        ("continuous", "x", "y", "0 1 0"),
        ("continuous", "y", "b", "1 0 0"),
    ),
}


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("chain", UNRESISTED.values(), ids=UNRESISTED)
def test_a_joint_that_no_inertia_resists_is_named(base, chain):
    joints = [JOINT.format(f"j{k}", *one) for k, one in enumerate(chain)]
    bodies = {name for one in chain for name in one[1:3]}
    links = [(solid if name in "ab" else empty)(name) for name in sorted(bodies)]
    text = robot(*links, *joints)
    try:
        model = hrpsim.load_model(text, base=base, accept_nonphysical_inertia=True)
    except ModelError as error:
        assert "no moving link has a mass" in str(error)
        return
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = model.neutral()
        if base == "free":
            q[3:7] = rng.normal(size=4)
        v, tau = rng.normal(size=(2, model.nv))
        for function in FORWARD:
            with pytest.raises(ModelError, match="joint 'j0' moves no positive inertia here"):
                function(model, q, v, tau)
        assert np.isfinite(hrpsim.inverse_dynamics(model, q, v, tau)).all()


def test_a_gimbal_out_of_lock_moves():
    chain = UNRESISTED["a gimbal in lock"]
    joints = [JOINT.format(f"j{k}", *one) for k, one in enumerate(chain)]
    model = hrpsim.load_model(robot(solid("a"), empty("x"), empty("y"), solid("b"), *joints))
    q = model.neutral()
    q[8] = 0.01
    dv = np.linspace(-1.0, 1.0, model.nv)
    tau = hrpsim.inverse_dynamics(model, q, np.zeros(model.nv), dv)
    assert hrpsim.forward_dynamics(model, q, np.zeros(model.nv), tau) == pytest.approx(dv, abs=1e-9)


def test_a_free_base_without_inertia_is_named():
    text = robot(empty("a"), solid("b"), JOINT.format("j", "continuous", "a", "b", "0 0 1"))
    model = hrpsim.load_model(text, accept_nonphysical_inertia=True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = model.neutral()
        q[3:7], q[7] = rng.normal(size=4), rng.normal()
        with pytest.raises(ModelError, match="joint 'root_joint' moves no positive inertia here"):
            hrpsim.forward_dynamics(model, q, np.zeros(7), np.ones(7))


def test_a_point_mass_accepted_as_a_free_body_is_refused_by_name():
    model = hrpsim.load_model(robot(LINK.format("p", 1, 0, 0, 0)), accept_nonphysical_inertia=True)
    with pytest.raises(ModelError, match="'root_joint' moves no positive inertia"):
        hrpsim.forward_dynamics(model, [1, 2, 3, 0.1, 0.2, 0.3, 0.4], np.ones(6), np.ones(6))
