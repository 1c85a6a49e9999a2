# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two conversions in a row keep the dynamics, and name what a format cannot say."""

import numpy as np
import pytest

from hrpsim import convert, load_model, mass_matrix

pytestmark = pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")

LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/><mass value="{}"/>'
    '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>'
)
ROBOT = (
    '<robot name="r">'
    + "".join(LINK.format(name, mass) for name, mass in zip("abc", (5, 3, 2), strict=True))
    + '<link name="tip"/>'
    '<joint name="b" type="revolute"><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/>'
    '<parent link="a"/><child link="b"/><axis xyz="0 0.6 0.8"/>'
    '<limit lower="-1" upper="2" effort="7" velocity="3"/><dynamics damping="0.5"/></joint>'
    '<joint name="k" type="revolute"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>'
    '<limit lower="-2" upper="2" effort="4" velocity="2"/>'
    '<mimic joint="b" multiplier="1.23456789012" offset="0.3456789012"/></joint>'
    '<joint name="t" type="fixed"><origin xyz="0 0 1"/><parent link="c"/><child link="tip"/>'
    "</joint>"
    '<gazebo reference="tip"><sensor name="imu" type="imu"><update_rate>100</update_rate></sensor>'
    '</gazebo><hrpsim reference="b"><gains kp="123.456789" kd="1.23456789"/></hrpsim></robot>'
)
SENSORS = """<sdf version="1.9"><model name="m"><link name="l">
<sensor name="imu" type="imu"><update_rate>200</update_rate><imu><angular_velocity>
<x><noise type="gaussian"><stddev>0.1</stddev></noise></x></angular_velocity></imu></sensor>
<sensor name="scan" type="gpu_lidar"><pose>0 0 0.5 0 0 0</pose><update_rate>10</update_rate>
<topic>front</topic><lidar><scan><horizontal><samples>90</samples><min_angle>-1</min_angle>
<max_angle>1</max_angle></horizontal></scan><range><min>0.1</min><max>9</max></range></lidar>
</sensor></link></model></sdf>"""


@pytest.fixture
def there_and_back(tmp_path):
    def made(by):
        source, between, back = (tmp_path / name for name in ("r.urdf", f"m.{by}", "back.urdf"))
        source.write_text(ROBOT)
        lost = convert(source, between).not_written
        return load_model(source), load_model(between), load_model(back_of(between, back)), lost

    def back_of(between, back):
        convert(between, back)
        return back

    return made


def test_urdf_by_sdf_keeps_dynamics_limits_and_sensors_of_frames(there_and_back):
    """Law: a joint may have the name of a link in URDF alone, so the SDF calls it NAME_joint."""
    first, _, last, lost = there_and_back("sdf")
    assert last.joint_names == ("b_joint", "k")
    q = first.neutral()
    np.testing.assert_allclose(mass_matrix(last, q), mass_matrix(first, q), rtol=1e-12)
    for key in ("lower", "upper", "velocity_limit", "effort_limit"):
        one, two = getattr(first.system, key), getattr(last.system, key)
        np.testing.assert_array_equal(one, two)
    (sensor,) = last.sensors
    assert (sensor.name, sensor.rate) == ("imu", 100.0)
    assert any(line.startswith("joint with the name of a link (1: b)") for line in lost)
    assert any(line.startswith("gains of a joint (1: b)") for line in lost)


def test_urdf_by_mjcf_keeps_all_digits_of_gains_and_followers(there_and_back):
    pytest.importorskip("mujoco")
    _, between, last, _ = there_and_back("xml")
    for model in (between, last):
        assert model.gains["b"] == (123.456789, 1.23456789)
    written = between.robot.joints["k"].mimic
    assert written == ("b", 1.23456789012, 0.3456789012)


def test_sdf_to_urdf_keeps_rates_and_lidars_and_names_the_rest(tmp_path):
    source, target = tmp_path / "m.sdf", tmp_path / "m.urdf"
    source.write_text(SENSORS)
    lost = convert(source, target).not_written
    assert lost == (
        "noise of a sensor (1: imu): not written",
        "topic and frame of a sensor (1: scan): not written",
    )
    first, last = load_model(source), load_model(target)
    assert [sensor.rate for sensor in last.sensors] == [200.0]
    (one,), (other,) = first.sampled_sensors, last.sampled_sensors
    assert (one.name, one.kind, one.rate) == (other.name, other.kind, other.rate)
    np.testing.assert_array_equal(other.p, one.p)
    assert one.p[2] == 0.5
