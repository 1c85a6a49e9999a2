# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A fit's result can be used: what the model lacks, changed files, a page."""

import re

import numpy as np
import pytest
from fitting.arm import DAMPING, GAIN, MASS, ROTOR, URDF, WORLD

import hrpsim
from hrpsim.__main__ import main
from hrpsim.fitting import FitError, FitResult, Recording
from hrpsim.fitting.report import suspects, verdict_rows, write_model, write_report

KP, KD = 14.0, 0.5
PERIOD, STEPS = 0.01, 20
ROTATED = '<hrpsim reference="shoulder"><rotor inertia="0.05"/></hrpsim></robot>'


def world_with_rotor(folder):
    """Write the arm with a rotor and a servo of KP and KD."""
    (folder / "arm.urdf").write_text(URDF.replace("</robot>", ROTATED))
    world = folder / "arm.yaml"
    world.write_text(WORLD.replace("[10.0, 0.0]", f"[{KP}, {KD}]"))
    return world


def recorded(world, change=None):
    """Return a noisy recording of the arm, after a change of the robot."""
    one = hrpsim.load_world(world)
    robot, rows, noise = one.robots["arm"], [], np.random.default_rng(0)
    robot.set_joint_properties(damping=0.25)
    if change is not None:
        change(robot)
    for k in range(400):
        command = 0.6 * np.sin(0.11 * k) + 0.4 * np.sin(0.031 * k)
        rows.append((one.time, robot.q[0], robot.v[0], command))
        robot.command(positions=[command])
        one.step(STEPS)
    time, q, v, commands = np.array(rows).T
    return Recording(
        time,
        ("shoulder",),
        (q + noise.normal(0.0, 1e-4, len(q)))[:, None],
        (v + noise.normal(0.0, 1e-3, len(v)))[:, None],
        command_time=time,
        command_positions=commands[:, None],
    )


GEAR = hrpsim.Actuator(stiffness=4000.0, damping=5.0, backlash=5e-3)
LACKS = [
    ("nothing", None, None),
    (
        "dry friction",
        lambda robot: robot.set_joint_properties(friction=0.2),
        "dry friction of shoulder",
    ),
    ("backlash", lambda robot: robot.set_actuator(GEAR), "backlash of shoulder"),
    ("a gear ratio", lambda robot: robot.set_gains(KP * 1.21, KD * 1.21), "its gear ratio"),
]


@pytest.mark.parametrize("what, change, name", LACKS, ids=[one[0] for one in LACKS])
def test_what_the_model_lacks_is_named(tmp_path, what, change, name):
    """Law: an effect that made the data explains the residuals best; noise has no explanation.

    A gear ratio that is 10 % larger multiplies the servo's gains at the joint by 1.21.
    """
    world = world_with_rotor(tmp_path)
    first = {DAMPING: 0.1}
    recording = recorded(world, change)
    result = hrpsim.fit(world, [recording], first)
    found = suspects(world, [recording], first, result)
    named = [one for one in found if one.named]
    if name is None:
        assert named == []
    else:
        assert name in named[0].name and named[0].more and named[0].share > 0.05
        assert "would explain" in named[0].text()


def result_of(**values):
    """Return a result with these values by name, as a fit returns it."""
    names = tuple(values)
    numbers = np.array(list(values.values()))
    inertia = {
        "mass": 2.5,
        "com": np.array([0.0, 0.01, -0.4]),
        "inertia": np.diag([0.03, 0.02, 0.01]),
    }
    return FitResult(
        names=names,
        start=0.5 * numbers,
        values=numbers,
        low=0.9 * numbers,
        high=1.1 * numbers,
        correlation=np.eye(len(names)),
        reached=True,
        at_bound=(),
        moved_by_step=(),
        without_effect=(),
        undetermined=(),
        traces=(),
        units={},
        derivatives={},
        inertias={"arm.rod": inertia},
    )


def rod_of(path):
    """Return mass, centre of mass and inertia of the rod of a description, in the link's frame."""
    model = hrpsim.load_model(path, base="fixed")
    frame, system = model.frame("rod"), model.system
    com = frame.R.T @ (system.com[frame.body] - frame.p)
    return system.mass[frame.body], com, frame.R.T @ system.inertia[frame.body] @ frame.R


def parts_besides_numbers(text):
    """Return a text without its numbers."""
    return re.sub(r"[-+\d.e]+", "#", text)


def test_a_changed_urdf_keeps_comments_and_order(tmp_path):
    """Law: only the text of values changes, and the changed file has the values."""
    odd = URDF.replace(
        '<link name="rod">', "<!-- the <joint name='shoulder'/> rod -->\n\t<link   name=\"rod\">"
    )
    (tmp_path / "arm.urdf").write_text(odd)
    world = tmp_path / "arm.yaml"
    world.write_text(WORLD)
    values = {DAMPING: 0.75, ROTOR: 0.0625, MASS: 2.5, GAIN: 14.0, "delay": 0.01}
    left = write_model(
        world, result_of(**values), dict.fromkeys(values, 1.0), tmp_path / "new.urdf"
    )
    assert set(left) == {GAIN, "delay"}
    text = (tmp_path / "new.urdf").read_text()
    added = ['<hrpsim reference="shoulder"><rotor inertia="0.0625"/></hrpsim>', ' rpy="0 0 0"']
    without = text
    for part in added:
        assert without.count(part) == 1
        without = without.replace(part, "")
    assert parts_besides_numbers(without) == parts_besides_numbers(odd)
    model = hrpsim.load_model(tmp_path / "new.urdf", base="fixed")
    assert model.system.damping[0] == 0.75 and model.system.rotor_inertia[0] == 0.0625
    mass, com, inertia = rod_of(tmp_path / "new.urdf")
    assert mass == 2.5
    np.testing.assert_allclose(com, [0.0, 0.01, -0.4], atol=1e-12)
    np.testing.assert_allclose(inertia, np.diag([0.03, 0.02, 0.01]), atol=1e-12)


MJCF = """<mujoco model="arm">
  <!-- <joint name="shoulder" damping="9"/> is only a remark -->
  <default><joint damping="0.1" armature="0.01"/></default>
  <worldbody>
    <body name="rod">
      <joint name="shoulder" axis="0 1 0"  frictionloss='0.3'/> <!-- driven -->
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.02 0.02 0.01" quat="1 0 0 0"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_a_changed_mjcf_keeps_comments_and_defaults(tmp_path):
    """Law: a joint gets attributes of its own; the defaults of other joints stay."""
    (tmp_path / "arm.xml").write_text(MJCF)
    world = tmp_path / "arm.yaml"
    world.write_text(WORLD.replace("arm.urdf", "arm.xml"))
    friction = DAMPING.replace("damping", "friction")
    values = {DAMPING: 0.75, friction: 0.125, ROTOR: 0.0625, MASS: 2.5}
    left = write_model(world, result_of(**values), dict.fromkeys(values, 1.0), tmp_path / "new.xml")
    assert left == {}
    text = (tmp_path / "new.xml").read_text()
    kept = MJCF.splitlines()
    assert text.splitlines()[:5] == kept[:5] and text.splitlines()[7:] == kept[7:]
    assert text.splitlines()[5].endswith("axis=\"0 1 0\"  frictionloss='0.125'/> <!-- driven -->")
    model = hrpsim.load_model(tmp_path / "new.xml", base="fixed")
    system = model.system
    assert (system.damping[0], system.friction[0], system.rotor_inertia[0]) == (0.75, 0.125, 0.0625)
    mass, com, inertia = rod_of(tmp_path / "new.xml")
    assert mass == 2.5
    np.testing.assert_allclose(com, [0.0, 0.01, -0.4], atol=1e-12)
    np.testing.assert_allclose(inertia, np.diag([0.03, 0.02, 0.01]), atol=1e-12)


def test_a_changed_world_file_keeps_comments(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    world = tmp_path / "arm.yaml"
    text = "# my arm\n" + WORLD.replace("gains:", "# a servo\n     gains:").replace(
        "{name", "{name"
    )
    world.write_text(text)
    values = {GAIN: 14.5, "world.time_step": 0.001, DAMPING: 0.2}
    left = write_model(
        world, result_of(**values), dict.fromkeys(values, 1.0), tmp_path / "new.yaml"
    )
    assert list(left) == [DAMPING] and "description" in left[DAMPING]
    expected = text.replace("0.0005", "0.001").replace("[10.0,", "[14.5,")
    assert (tmp_path / "new.yaml").read_text() == expected


def test_what_cannot_be_changed_is_refused(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    world = tmp_path / "arm.yaml"
    world.write_text(WORLD)
    result, given = result_of(**{DAMPING: 0.2}), {DAMPING: 0.1}
    with pytest.raises(FitError, match=r"suffix must be one of: \.yaml"):
        write_model(world, result, given, tmp_path / "new.txt")
    with pytest.raises(FitError, match=r"have a description \.xml"):
        write_model(world, result, given, tmp_path / "new.xml")
    xacro = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    xacro = xacro.replace(
        '<link name="base"/>', '<xacro:property name="a" value="1"/><link name="base"/>'
    )
    (tmp_path / "arm.urdf").write_text(xacro)
    with pytest.raises(FitError, match="xacro"):
        write_model(world, result, given, tmp_path / "new.urdf")
    assert not list(tmp_path.glob("new*"))


def test_the_table_has_units_and_remarks():
    names = {DAMPING: "Nms/rad", GAIN: "Nm/rad", ROTOR: "kg m^2", MASS: "1", "delay": "s"}
    rows = verdict_rows(result_of(**dict.fromkeys(names, 2.0)), dict.fromkeys(names, 1.0))
    assert {row.name: row.unit for row in rows} == names
    assert all(row.remark == "" and (row.low, row.high) == (1.8, 2.2) for row in rows)
    sliding = verdict_rows(
        result_of(**{GAIN: 2.0}), {GAIN: 1.0}, frozenset({GAIN.removesuffix(".kp")})
    )
    assert sliding[0].unit == "N/m"


@pytest.mark.long
def test_the_command_writes_a_page_and_a_description(tmp_path, monkeypatch, capsys):
    """Law: the page holds its figures, and refers to nothing else."""
    world = world_with_rotor(tmp_path)
    one = recorded(world, LACKS[1][1])
    columns = [one.time, one.positions[:, 0], one.velocities[:, 0], one.command_positions[:, 0]]
    header = "time,position.shoulder,velocity.shoulder,command.shoulder"
    np.savetxt(
        tmp_path / "arm.csv", np.transpose(columns), delimiter=",", header=header, comments=""
    )
    (tmp_path / "fit.yaml").write_text(
        f"world: arm.yaml\nparameters: {{{DAMPING}: 0.1}}\nrecordings:\n"
        "  - {file: arm.csv, end: 3}\n  - {file: arm.csv, begin: 3, held_out: true, name: rest}\n"
    )
    monkeypatch.chdir(tmp_path)
    options = ["--report", "fit.html", "--write-model", "new.urdf", "--processes", "1"]
    assert main(["fit", "fit.yaml", *options]) == 0
    assert "dry friction of shoulder would explain" in capsys.readouterr().out
    page = (tmp_path / "fit.html").read_text()
    assert "dry friction of shoulder would explain" in page
    assert page.count("data:image/png;base64,") == 2 and "Residuals of rest, held out" in page
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|@import|<script", page)
    model = hrpsim.load_model(tmp_path / "new.urdf", base="fixed")
    assert model.system.damping[0] == pytest.approx(0.25, abs=0.1)


def test_a_page_needs_no_recordings(tmp_path):
    given = {DAMPING: 0.1}
    result = result_of(**{DAMPING: 0.2})
    write_report(tmp_path / "a.html", "<arm>", result, verdict_rows(result, given))
    assert "&lt;arm&gt;" in (tmp_path / "a.html").read_text()
