# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy in many worlds: outcomes with closed forms, the same bits together and alone."""

import csv
import json
import pickle

import numpy as np
import pytest
from bridges.networks import write_linear

from hrpsim import HrpsimError
from hrpsim.commands.cli import main
from hrpsim.rollout import RolloutScenario, rollout, write_report
from hrpsim.rollout.rollout_scenario import MEASURED, POLICY
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

pytest.importorskip("onnxruntime")
pytest.importorskip("zarr")
INERTIA, MASS, TORQUE = 0.02, 3.0, 0.5  # [kg m^2], [kg], [Nm]
ROBOT = f"""<robot name="cart"><link name="body"><inertial><mass value="{MASS - 0.5}"/>
<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision></link>
<link name="wheel"><inertial><mass value="0.5"/>
<inertia ixx="{INERTIA}" iyy="{INERTIA}" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="spin" type="continuous"><parent link="body"/><child link="wheel"/>
<axis xyz="0 1 0"/><limit effort="100" velocity="100"/></joint>
<link name="sole"/><joint name="below" type="fixed"><parent link="body"/><child link="sole"/>
<origin xyz="0 0 -0.1"/></joint></robot>"""
WORLD = """robots:
  - {name: cart, urdf: cart.urdf, position: [0, 0, 0.1], gains: {"*": [0, 0]}}
ground: true
friction:
  - {between: [default, default], static: 0.0}
world: {time_step: 0.001}
"""
POLICY_FILE = """policy: policy.onnx
period: 0.005
decimation: 4
joints: [spin]
default: 0.0
kp: 0.0
action: {scale: 0.5, effort: [spin]}
observations: [{term: constant}, {term: joint_velocities}, {term: gravity}]
"""
PUSH = {"link": "body", "impulse": MASS, "begin": 0.0, "duration": 0.005}  # to 1 m/s
STUDY = f"""world: world.yaml
duration: 0.2
pushes: [{{link: body, impulse: {MASS}, begin: 0.0, duration: 0.005}}]
seed: 5
design:
  method: sobol
  count: 8
  parameters:
    robots.cart.mass_factor: {{uniform: [0.5, 2.0]}}
    controller.velocity_x: {{uniform: [0.0, 2.0]}}
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "cart.urdf": ROBOT,
        "world.yaml": WORLD,
        "policy.yaml": POLICY_FILE,
        "study.yaml": STUDY,
    }.items():
        (tmp_path / name).write_text(text)
    write_linear(tmp_path / "policy.onnx", [[1.0], [0.0], [0.0], [0.0], [0.0]], "rows")
    return tmp_path


def scenario(folder, spread=0.0, **options):
    options = {"duration": 0.2, "measured": MEASURED, **options}
    given = {"description": str(folder / "policy.yaml"), **options.pop("parameters", {})}
    options = {"world": folder / "world.yaml", "robot": "cart", **options}
    worlds = WorldScenario(controller=POLICY, parameters=given, **options)
    return RolloutScenario(worlds, spread)


def test_errors_of_tracking_and_forces_are_those_of_a_gliding_box(folder):
    """Law: a push of m Ns gives 1 m/s, which stays without friction. The floor bears the weight.

    The error is 1 - command.
    """
    found = scenario(folder, pushes=[PUSH]).run({"controller.velocity_x": 0.4}, 0)
    assert found["velocity_error"] == pytest.approx(0.6, abs=2e-3)
    assert found["yaw_rate_error"] == pytest.approx(0.0, abs=1e-3)
    assert found["largest_foot_force"] == pytest.approx(1.0, rel=0.35)
    assert np.mean(found["foot_force"][3:]) == pytest.approx(1.0, rel=0.05)
    assert found["x"] == pytest.approx(0.2, abs=5e-3)
    np.testing.assert_allclose(found["command_x"], 0.4)
    np.testing.assert_allclose(found["velocity_x"][1:], 1.0, atol=2e-3)


def fix_the_base(folder):
    """Take the floor away, hold the body, and let the policy observe the joint alone."""
    robot = '  - {name: cart, urdf: cart.urdf, base: fixed, gains: {"*": [0, 0]}}'
    (folder / "world.yaml").write_text(f"robots:\n{robot}\nworld: {{time_step: 0.001}}\n")
    text = POLICY_FILE.replace(", {term: gravity}", "")
    (folder / "policy.yaml").write_text(text)
    write_linear(folder / "policy.onnx", [[1.0], [0.0]], "rows")
    return text


def test_energy_is_the_work_of_the_motor(folder):
    """Law: a constant torque u turns a wheel of inertia I for a time T: work u^2 T^2 / 2 I."""
    fix_the_base(folder)
    found = scenario(folder).run({}, 0)
    assert found["energy"] == pytest.approx(TORQUE**2 * 0.2**2 / (2.0 * INERTIA), rel=0.03)
    assert np.isnan(found["velocity_error"])


def test_an_actuator_bounds_the_torque(folder):
    """Law: as above, with the torque 0.2 Nm that the actuator can deliver."""
    text = fix_the_base(folder)
    (folder / "policy.yaml").write_text(f"{text}actuators: [{{effort_limit: 0.2}}]\n")
    found = scenario(folder).run({}, 0)
    assert found["energy"] == pytest.approx(0.2**2 * 0.2**2 / (2.0 * INERTIA), rel=0.03)


MJCF = f"""<mujoco model="cart"><option timestep="0.001"/><worldbody><body name="wheel">
<inertial mass="1" pos="0 0 0" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
<joint name="spin" axis="0 1 0"/></body></worldbody>
<actuator><motor name="spin" joint="spin"/></actuator></mujoco>"""
SDF = f"""<sdf version="1.9"><world name="w"><physics type="x"><max_step_size>0.001</max_step_size>
</physics><model name="cart"><joint name="fixed" type="fixed"><parent>world</parent>
<child>body</child></joint><link name="body"/><link name="wheel"><inertial><mass>1</mass><inertia>
<ixx>{INERTIA}</ixx><iyy>{INERTIA}</iyy><izz>{INERTIA}</izz></inertia></inertial></link>
<joint name="spin" type="revolute"><parent>body</parent><child>wheel</child><axis><xyz>0 1 0</xyz>
</axis></joint></model></world></sdf>"""


@pytest.mark.parametrize("name, text", [("cart.xml", MJCF), ("cart.sdf", SDF)])
def test_a_world_of_another_format_runs(folder, name, text):
    """Law: as above. Twice the inertia takes half the work."""
    if name == "cart.xml":
        pytest.importorskip("mujoco")
    fix_the_base(folder)
    (folder / name).write_text(text)
    cart = scenario(folder, world=folder / name, robot=None)
    work = TORQUE**2 * 0.2**2 / (2.0 * INERTIA)
    assert cart.run({}, 0)["energy"] == pytest.approx(work, rel=0.03)
    (robot,) = cart.worlds.robot_names
    heavy = cart.run({f"robots.{robot}.mass_factor": 2.0}, 0)
    assert heavy["energy"] == pytest.approx(work / 2.0, rel=0.03)
    before = cart.identity()
    (folder / name).write_text(text.replace("0.02", "0.03"))
    assert scenario(folder, world=folder / name, robot=None).identity() != before
    assert pickle.loads(pickle.dumps(cart)).identity() == before


@pytest.mark.parametrize("rows", [1, "rows"])
def test_a_run_has_the_same_bits_among_others_and_alone(folder, rows):
    weights = np.random.default_rng(1).normal(size=(5, 1))
    write_linear(folder / "policy.onnx", weights, rows)
    one = scenario(folder, spread=0.05)
    cells = [({"robots.cart.mass_factor": 0.5 + k}, k) for k in range(5)]
    together = one.run_together(cells)
    for found, (values, seed) in zip(together, cells):
        alone = one.run(values, seed)
        for name, value in alone.items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)
    assert together[0]["energy"] != together[1]["energy"]


def test_starts_differ_by_the_seed_and_only_if_wanted(folder):
    found = [
        scenario(folder, spread).run({}, seed)["x"] for spread in (0.0, 0.1) for seed in (1, 2)
    ]
    assert found[0] == found[1] != found[2] != found[3]


def test_an_error_ends_its_own_run_alone(folder):
    """A mass factor of the second run is refused when its world is made."""
    one = scenario(folder)
    found = one.run_together([({}, 0), ({"robots.cart.mass_factor": -1.0}, 0), ({}, 0)])
    assert isinstance(found[1], HrpsimError)
    assert found[0]["energy"] == found[2]["energy"] > 0.0


def test_armature_of_a_description_slows_the_joint(folder):
    """Law: the work of a constant torque in a given time is inverse to the inertia."""
    text = fix_the_base(folder)
    light = scenario(folder).run({}, 0)["energy"]
    text = text.replace("kp: 0.0", f"kp: 0.0\narmature: {3.0 * INERTIA}")
    (folder / "policy.yaml").write_text(text)
    assert scenario(folder).run({}, 0)["energy"] == pytest.approx(light / 4.0, rel=1e-6)


@pytest.mark.long
def test_the_command_writes_table_picture_and_page(folder, capsys):
    """Every world of the study is a row. A push gives 1 m/s by the factor of the mass."""
    pytest.importorskip("matplotlib")
    output = folder / "out"
    given = ["rollout", str(folder / "policy.yaml"), "--randomise", str(folder / "study.yaml")]
    given += ["--worlds", "6", "--spread", "0", "--processes", "1", "--output", str(output)]
    assert main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["summary"][0].startswith("0 of 6 runs fell: 0.0 %")
    assert (output / "rollout.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((output / "worlds.csv").open()))
    assert len(rows) == 6 and len({row["robots.cart.mass_factor"] for row in rows}) == 6
    for row in rows:
        expected = abs(
            1.0 / float(row["robots.cart.mass_factor"]) - float(row["controller.velocity_x"])
        )
        assert float(row["velocity_error"]) == pytest.approx(expected, abs=0.02)
    page = (output / "rollout.md").read_text()
    for part in ("| velocity_error | m/s |", "| robots.cart.mass_factor |", "(rollout.png)"):
        assert part in page
    assert main(given) == 0  # continues from the store
    assert "Page:" in capsys.readouterr().out


def test_a_study_of_single_values_is_repeated_to_the_number_of_worlds(folder):
    text = STUDY.partition("design")[0] + "design:\n  parameters:\n"
    text += "    robots.cart.mass_factor: {values: [0.5, 2.0]}\n"
    (folder / "study.yaml").write_text(text)
    given = {"study": folder / "study.yaml", "worlds": 5, "processes": 1}
    found = rollout(folder / "policy.yaml", **given)
    assert found["robots.cart.mass_factor"].values.tolist() == [0.5, 2.0, 0.5, 2.0, 0.5]
    assert len(set(found["seed"].values.tolist())) == 5
    page = write_report(found, folder / "out", 0.02).read_text()
    assert "| robots.cart.mass_factor | 0.5 | 3 |" in page


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (
            STUDY.replace("world: world.yaml\n", "function: math:sqrt\n"),
            "cannot be used with|outcomes are not known",
        ),
        (
            STUDY + "find: {parameter: duration, between: [1, 2], tolerance: 1, bad: fell}\n",
            "needs a study of a world, without `find`",
        ),
        (STUDY.replace("mass_factor", "mas_factor"), "'robots.cart.mas_factor' does not exist"),
    ],
)
def test_studies_that_do_not_fit_are_refused_before_the_start(folder, study, message):
    (folder / "study.yaml").write_text(study)
    with pytest.raises(HrpsimError, match=message):
        rollout(folder / "policy.yaml", study=folder / "study.yaml", processes=1)


def test_a_rollout_without_a_world_says_how_to_name_one(folder):
    with pytest.raises(HrpsimError, match="--world FILE, or a study"):
        rollout(folder / "policy.yaml")
