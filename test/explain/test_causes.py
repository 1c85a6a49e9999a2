# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A difference that was put into a world is found, and a pair without one is said to be alike."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("xarray")

from explain.robots import ARM, CRAWLER, arm_policy, crawler_policy  # noqa: E402

from hrpsim.commands.cli import main  # noqa: E402
from hrpsim.explain import (  # noqa: E402
    Case,
    ExplainError,
    MujocoReference,
    RecordedReference,
    explain,
    write_page,
)

PLANTED = {
    "armature": ('armature="0.02"', 'armature="0.1"'),
    "joint damping": ('damping="0.2"', 'damping="1"'),
    "dry friction of joints": ('frictionloss="0.1"', 'frictionloss="1"'),
    "torque limits": ('"-8 8"', '"-3 3"'),
    "inertia": ('mass="0.7"', 'mass="1.5"'),
    "gravity": ("<option ", '<option gravity="0 0 -5" '),
}


def explained(folder, policy, text, here, period=None):
    """Return the explanation of a policy in MuJoCo with one MJCF, and in hrpsim with another.

    period: of the PD control in MuJoCo [s].
    """
    (folder / "there.xml").write_text(text)
    (folder / "here.xml").write_text(here)
    case = Case(policy, folder / "here.xml", duration=1.5, starts=4)
    with ThreadPoolExecutor(1) as executor:
        reference = MujocoReference(case, folder / "there.xml", period=period)
        return explain(case, reference, executor)


@pytest.mark.quick_cases("armature", "torque limits")
@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_difference_ranks_first(planted, tmp_path):
    """Law: the smallest change is the one that was made in the file, and nothing remains."""
    old, new = PLANTED[planted]
    assert old in ARM
    found = explained(tmp_path, arm_policy(tmp_path), ARM, ARM.replace(old, new))
    assert found.differs
    assert found.ranked[0].changes[0].difference == planted
    assert found.ranked[0].by_gap > 0.95
    assert found.ranked[0].by_predictions > 0.9
    assert [one.difference for one in found.smallest.changes] == [planted]
    assert all(one.share < 0.1 for one in found.ranked[1:])
    assert found.remains < 0.05


_STIFF = 3.5  # kd at which the rate of the PD control matters [Nms/rad]


def test_another_rate_of_the_pd_control_in_mujoco_ranks_first(tmp_path):
    """Law: torques that stay constant for 20 ms in MuJoCo are the only cause."""
    found = explained(tmp_path, arm_policy(tmp_path, _STIFF), ARM, ARM, period=0.02)
    (change,) = found.smallest.changes
    assert (change.difference, change.text) == ("rate of the PD control", "every 2 -> 20 ms")
    assert found.ranked[0].changes == (change,)
    assert found.ranked[0].by_gap > 0.95
    assert found.ranked[0].by_predictions > 0.9
    assert found.remains < 0.05


@pytest.mark.parametrize("period", [0.003, 0.04])
def test_a_period_in_mujoco_that_does_not_fit_is_refused(period, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    case = Case(arm_policy(tmp_path), tmp_path / "arm.xml")
    with pytest.raises(ExplainError, match="not a whole multiple of the period in MuJoCo"):
        MujocoReference(case, tmp_path / "arm.xml", period=period)


@pytest.mark.long
def test_two_planted_differences_are_found_together(tmp_path):
    """Law: neither of two changes suffices, and both do."""
    here = ARM
    for planted in ("armature", "joint damping"):
        here = here.replace(*PLANTED[planted])
    found = explained(tmp_path, arm_policy(tmp_path), ARM, here)
    names = {one.difference for one in found.smallest.changes}
    assert names == {"armature", "joint damping"}
    assert found.smallest.by_gap > 0.95


IMU = '<gyro site="{0}"/><accelerometer site="{0}"/>'
IN_A_FOOT = (
    CRAWLER.replace('<freejoint name="base"/>', '<freejoint name="base"/><site name="trunk"/>')
    .replace('<joint name="fl"', '<site name="foot"/><joint name="fl"')
    .replace("<actuator>", f"<sensor>{IMU.format('trunk')}{IMU.format('foot')}</sensor><actuator>")
)


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        pytest.param(ARM, arm_policy, id="arm"),
        pytest.param(IN_A_FOOT, crawler_policy, id="crawler"),
    ],
)
def test_a_pair_without_a_difference_is_alike(text, policy, tmp_path):
    """Law: an IMU that the policy does not read makes no difference."""
    found = explained(tmp_path, policy(tmp_path), text, text)
    assert not found.differs
    assert found.ranked == ()


def test_slippery_ground_ranks_first(tmp_path):
    """Law: the friction that was made smaller explains most, before all properties of contacts."""
    here = CRAWLER.replace("0.9 0.005", "0.15 0.005")
    found = explained(tmp_path, crawler_policy(tmp_path), CRAWLER, here)
    assert found.ranked[0].changes[0].difference == "friction of the ground"
    assert found.feet == ("fl", "fr", "rl", "rr")
    others = {one.changes[0].difference: one.share for one in found.ranked[1:]}
    assert found.ranked[0].share > 0.4 > 0.2 > max(others.values())


def recorded_in_mujoco(folder, delay=0, sensed=0, hold=1, kd=0.5):
    """Record the arm in MuJoCo. Commands arrive, and measurements are, some periods late.

    hold: control periods with constant torques.
    """
    from explain.robots import _ARM_GAINS

    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    torques, pasts, rows = [np.zeros(2)] * delay, [], []
    target = np.zeros(2)
    for tick in range(751):
        pasts.append((data.qpos.copy(), data.qvel.copy()))
        rows.append((data.qpos.copy(), data.qvel.copy()))
        q, rate = pasts[max(len(pasts) - 1 - sensed, 0)]
        if tick % 10 == 0:
            turned = 2.0 * np.pi * 1.5 * 0.002 * tick
            clock = np.array([np.sin(turned), np.cos(turned)])
            target = 0.5 * (clock @ np.array(_ARM_GAINS) - 0.1 * q)
        held = torques[-1] if tick % hold else 20.0 * (target - q) - kd * rate
        torques.append(held)
        data.ctrl[:] = torques[-1 - delay] if delay else torques[-1]
        mujoco.mj_step(model, data, nstep=2)
    positions, velocities = (np.array(part) for part in zip(*rows))
    time = 0.002 * np.arange(len(rows))
    arrays = {"positions": positions, "velocities": velocities, "joints": np.array(["a", "b"])}
    np.savez(folder / "run.npz", time=time, **arrays)
    (folder / "arm.xml").write_text(ARM)
    return folder / "run.npz"


def explained_recording(folder, kd=0.5, **late):
    run = recorded_in_mujoco(folder, kd=kd, **late)
    case = Case(
        arm_policy(folder, kd), folder / "arm.xml", duration=1.0, starts=3, joint_spread=0.005
    )
    with ThreadPoolExecutor(1) as executor:
        return explain(case, RecordedReference(case, run), executor)


def test_a_recording_without_a_difference_is_alike(tmp_path):
    assert not explained_recording(tmp_path).differs


@pytest.mark.long
@pytest.mark.parametrize(
    ("late", "planted", "text"),
    [
        ({"delay": 10}, "delay of commands", "+20 ms"),
        ({"sensed": 10}, "delay of measurements", "+20 ms"),
        ({"hold": 10, "kd": _STIFF}, "rate of the PD control", "every 2 -> 20 ms"),
    ],
)
def test_a_difference_in_a_recording_ranks_first(late, planted, text, tmp_path):
    """Law: a recording does not tell delays and rates. 20 ms of each are found by their effect."""
    found = explained_recording(tmp_path, **late)
    assert found.differs
    change = found.ranked[0].changes[0]
    assert (change.difference, change.text) == (planted, text)


@pytest.mark.long
def test_the_command_writes_both_pages_and_its_status_says_whether_there_is_a_difference(
    tmp_path, capsys
):
    pytest.importorskip("matplotlib")
    policy, there = arm_policy(tmp_path), tmp_path / "there.xml"
    there.write_text(ARM)
    (tmp_path / "here.xml").write_text(ARM.replace(*PLANTED["armature"]))
    options = ["--mjcf", there, "--duration", 1.0, "--starts", 3, "--processes", 1, "--json"]
    options += ["--output", tmp_path / "page"]
    here = tmp_path / "here.xml"
    assert main([str(one) for one in ("explain", policy, here, *options)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["ranked"][0]["changes"][0]["difference"] == "armature"
    markdown = (tmp_path / "page/explanation.md").read_text()
    html = (tmp_path / "page/index.html").read_text()
    assert "all 2: 0.1 -> 0.02 kg m^2" in markdown
    assert html.count("<img") == markdown.count("![") == 2
    assert "http" not in html


def test_pages_escape_what_files_say(tmp_path):
    found = explained(tmp_path, arm_policy(tmp_path), ARM, ARM)
    page, markdown = write_page(replace(found, reference="<b>|"), tmp_path / "page")
    assert "<b>" not in page.read_text()
    assert markdown.is_file()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"b"', '"other"', "joint 'b' does not exist"),
        ('timestep="0.001"', 'timestep="0.003"', "not a whole multiple"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(old, new, message, tmp_path):
    (tmp_path / "there.xml").write_text(ARM.replace(old, new))
    (tmp_path / "here.xml").write_text(ARM)
    case = Case(arm_policy(tmp_path), tmp_path / "here.xml")
    with pytest.raises(ValueError, match=message):
        MujocoReference(case, tmp_path / "there.xml")


def test_a_recording_that_lacks_a_joint_is_refused(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    one = np.zeros((5, 1))
    np.savez(tmp_path / "run.npz", time=0.01 * np.arange(5), positions=one, joints=np.array(["a"]))
    case = Case(arm_policy(tmp_path), tmp_path / "arm.xml")
    with pytest.raises(ExplainError, match="joints were not recorded: b"):
        RecordedReference(case, tmp_path / "run.npz")
