# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories, wrenches, base poses, gains and noise of a standing robot, over real topics."""

import math
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import PoseStamped, WrenchStamped
from ros.messages import seconds
from ros.spawning import rotor_without_limits
from ros.stepped import SteppedSimulation
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import hrpsim
from hrpsim.ros.robot.joint_trajectory import TrajectoryPoints, motion_through

ROOT = Path(__file__).resolve().parents[2]
HEAD, SHOULDER = "HEAD_JOINT0", "RARM_JOINT0"
INPUTS = {
    "joint_commands": "sensor_msgs/msg/JointState",
    "joint_trajectory": "trajectory_msgs/msg/JointTrajectory",
    "apply_wrench": "geometry_msgs/msg/WrenchStamped",
    "set_base_pose": "geometry_msgs/msg/PoseStamped",
}


class Bench(SteppedSimulation):
    """A simulation with publishers on all its inputs."""

    def __init__(self, listener):
        super().__init__(listener)
        self.odometry = listener.collect("nav_msgs/msg/Odometry", "odom")
        self.imu = listener.collect("sensor_msgs/msg/Imu", "imu/data")
        self.publishers = {topic: listener.publisher(kind, topic) for topic, kind in INPUTS.items()}
        self.now = 0.0

    def reset(self):
        self._call("reset")
        for received in (self.states, self.odometry, self.imu, self.log):
            received.clear()

    def step(self, steps):
        """Make steps; return {joint: (position, velocity, effort)} after them."""
        assert self.listener.set_parameter("step_count", steps).successful
        self._call("step")
        return self.joints()

    def _call(self, service):
        self.now = self.call(service, self.odometry, self.imu)

    def send(self, topic, message):
        self.listener.send(self.publishers[topic], message)


def trajectory(names, points, start=0.0):
    """Return the message for points (time, positions) or (time, positions, velocities)."""
    message = JointTrajectory(joint_names=names)
    message.header.stamp = Time(sec=int(start), nanosec=round(start % 1.0 * 1e9))
    for time, *values in points:
        nanoseconds = round(time * 1e9)
        since = Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        fields = dict(zip(("positions", "velocities"), values))
        message.points.append(JointTrajectoryPoint(time_from_start=since, **fields))
    return message


def wrench(link, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)):
    message = WrenchStamped()
    message.header.frame_id = link
    for part, values in ((message.wrench.force, force), (message.wrench.torque, torque)):
        part.x, part.y, part.z = values
    return message


def pose(position, orientation=(0.0, 0.0, 0.0, 1.0), frame="odom"):
    message = PoseStamped()
    message.header.frame_id = frame
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = position
    q.x, q.y, q.z, q.w = orientation
    return message


@pytest.fixture(scope="module")
def shared_bench(paused_simulation, module_listener):
    return Bench(module_listener)


@pytest.fixture
def bench(shared_bench):
    shared_bench.reset()
    return shared_bench


@pytest.mark.parametrize("with_velocities", [True, False])
def test_a_trajectory_commands_what_world_takes(bench, with_velocities):
    points = [(0.1, [0.2, -0.1], [1.0, 0.0]), (0.25, [0.3, -0.2], [0.0, 0.0])]
    if not with_velocities:
        points = [point[:2] for point in points]
    bench.send("joint_trajectory", trajectory([HEAD, SHOULDER], points))
    over_topic = bench.step(300)

    world = hrpsim.load_world(ROOT / "config" / "stand.yaml")
    robot = world.robots["hrp2"]
    motion = motion_through(
        [HEAD, SHOULDER],
        TrajectoryPoints(*zip(*points)),
        np.zeros(2),  # what the world file commands
        np.zeros(2),
    )
    for step in range(1, 301):
        positions, velocities = motion.at(step * world.time_step)
        robot.command(names=motion.names, positions=positions, velocities=velocities)
        world.step()
    assert [over_topic[name][0] for name in robot.joint_names] == robot.joint_positions.tolist()
    assert over_topic[HEAD][0] == pytest.approx(0.3, abs=0.01)


def test_the_next_trajectory_and_commands_take_over(bench):
    far = trajectory([HEAD, SHOULDER], [(1.0, [0.5, -0.5], [0.0, 0.0])])
    bench.send("joint_trajectory", far)
    before = bench.step(500)
    assert before[HEAD][0] == pytest.approx(0.25, abs=0.03)  # half way
    bench.send("joint_trajectory", trajectory([HEAD], [(0.2, [0.1])]))
    after = bench.step(600)
    assert after[HEAD][0] == pytest.approx(0.1, abs=0.01)
    assert after[SHOULDER][0] == pytest.approx(before[SHOULDER][0], abs=0.02)  # it stopped

    bench.send("joint_trajectory", far)
    bench.step(300)
    bench.send("joint_commands", JointState(name=[HEAD], position=[-0.2]))
    assert bench.step(1000)[HEAD][0] == pytest.approx(-0.2, abs=0.01)
    assert bench.step(1)[SHOULDER][0] == pytest.approx(-0.5, abs=0.02)  # this one went on

    bench.send("joint_trajectory", trajectory([HEAD], [(1.0, [0.5])]))
    stopped = bench.step(500)
    bench.send("joint_trajectory", JointTrajectory())
    assert bench.step(600)[HEAD][0] == pytest.approx(stopped[HEAD][0], abs=0.05)
    assert bench.warnings() == []


def test_a_trajectory_starts_at_its_stamp(bench):
    begin = bench.now
    message = trajectory([HEAD], [(0.1, [0.3])], start=begin + 0.2)
    bench.send("joint_trajectory", message)
    assert abs(bench.step(195)[HEAD][0]) < 1e-3
    assert bench.step(255)[HEAD][0] == pytest.approx(0.3, abs=0.01)

    late = trajectory([HEAD], [(0.4, [0.5]), (0.8, [0.0])], start=bench.now - 0.4)
    bench.send("joint_trajectory", late)  # joined where it turns
    assert bench.step(500)[HEAD][0] == pytest.approx(0.0, abs=0.01)


BAD_TRAJECTORIES = {
    "joint 'nose' does not exist": trajectory(["nose"], [(1.0, [0.0])]),
    "more than once": trajectory([HEAD, HEAD], [(1.0, [0.0, 0.0])]),
    "has no gains": trajectory(["RLEG_BUSH_Z"], [(1.0, [0.0])]),
    "point 0 has 1 positions for 2 joints": trajectory([HEAD, SHOULDER], [(1.0, [0.0])]),
    "in point 0 are nan": trajectory([HEAD], [(1.0, [math.nan])]),
    "point 1 is at 1 s, not after": trajectory([HEAD], [(1.0, [0.0]), (1.0, [1.0])]),
    "point 1 has no velocities": trajectory([HEAD], [(1.0, [0.0], [0.0]), (2.0, [0.0])]),
    "names no joint": trajectory([], [(1.0, [])]),
    "more than 60 s ahead": trajectory([HEAD], [(1.0, [0.5])], start=1_795_000_000.0),
    "the stamp is in the past": trajectory([HEAD], [(0.001, [0.5])], start=0.001),
}
BAD_WRENCHES = {
    "link 'nose' does not exist": wrench("nose", (1.0, 0.0, 0.0)),
    "link '' does not exist": wrench("", (1.0, 0.0, 0.0)),
    "the wrench on 'BODY' must be finite": wrench("BODY", (math.nan, 0.0, 0.0)),
    "the wrench on 'HEAD_LINK0' must be finite": wrench("HEAD_LINK0", (0.0, 0.0, 1e9)),
}
BAD_POSES = {
    "or empty, got 'map'": pose((0.0, 0.0, 1.0), frame="map"),
    "the position must be finite": pose((0.0, math.inf, 1.0)),
    "the quaternion must have length 1": pose((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0)),
}


@pytest.mark.parametrize(
    ("topic", "messages"),
    [
        ("joint_trajectory", BAD_TRAJECTORIES),
        ("apply_wrench", BAD_WRENCHES),
        ("set_base_pose", BAD_POSES),
    ],
)
def test_what_does_not_fit_is_named_and_changes_nothing(bench, topic, messages):
    undisturbed = bench.step(100)
    bench.reset()
    model = hrpsim.load_world(ROOT / "config" / "stand.yaml").robots["hrp2"].model
    assert "RLEG_BUSH_Z" in model.joint_names
    for message in messages.values():
        bench.send(topic, message)
    assert bench.step(100) == undisturbed
    assert bench.listener.wait_for(lambda: len(bench.warnings()) == len(messages))
    for cause, warning in zip(messages, bench.warnings()):
        assert warning.startswith(f"/{topic} rejected"), warning
        assert cause in warning


def test_the_base_is_put_where_the_pose_says_and_falls_from_there(bench):
    half = math.radians(30.0)
    turn = (0.0, 0.0, math.sin(half), math.cos(half))
    bench.send("set_base_pose", pose((1.0, -2.0, 3.0), turn))
    state = bench.step(100)
    odometry = bench.odometry[-1]
    p, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    # Semi-implicit steps fall g dt^2 n (n + 1) / 2; posture and springs move the base a little.
    fall = 9.80665 * 1e-6 * 100 * 101 / 2
    assert (p.x, p.y, p.z) == pytest.approx((1.0, -2.0, 3.0 - fall), abs=5e-3)
    assert (q.x, q.y, q.z, q.w) == pytest.approx(turn, abs=0.02)
    assert np.isfinite(list(state.values())).all()


def test_gains_take_effect_and_outlive_a_reset(bench):
    change = bench.listener.set_parameter
    push = JointState(name=[HEAD], position=[0.2])
    bench.send("joint_commands", push)
    assert bench.step(1)[HEAD][2] > 5.0
    assert change(f"gains.{HEAD}", [1.0, 0.1]).successful
    for _ in range(2):
        bench.reset()
        bench.send("joint_commands", push)
        assert bench.step(1)[HEAD][2] == pytest.approx(0.2, rel=0.05)  # kp times the error
    for value in ([1.0], [-1.0, 1.0], [1.0, math.nan], [0.0, 1.0], [1.0, 1.0, 1.0]):
        answer = change(f"gains.{HEAD}", value)
        assert not answer.successful
        assert "It must be [kp, kd]: two finite numbers, kp > 0 and kd >= 0" in answer.reason
    assert not change(f"gains.{HEAD}", "stiff").successful


def test_noise_is_in_the_messages_and_in_their_covariance(bench):
    change = bench.listener.set_parameter
    try:
        bench.step(500)
        assert {m.angular_velocity_covariance[0] for m in bench.imu} == {1e-9}
        quiet = np.std([m.angular_velocity.x for m in bench.imu])
        bench.reset()
        assert change("imu_gyro_noise", 0.02).successful
        assert change("noise_seed", 7).successful
        bench.step(2000)
        noisy = [m for m in bench.imu if m.angular_velocity_covariance[0] > 1e-6]
        assert noisy[0].angular_velocity_covariance[::4] == pytest.approx([4e-4 + 1e-9] * 3)
        assert noisy[0].linear_acceleration_covariance[::4] == pytest.approx([1e-9] * 3)
        rates = {seconds(m): m.angular_velocity.x for m in noisy}
        spread = np.std(list(rates.values()))
        assert spread == pytest.approx(0.02, abs=5 * 0.02 / math.sqrt(2 * len(rates)))
        assert quiet < 1e-4
    finally:
        change("imu_gyro_noise", 0.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("imu_gyro_noise", -1.0),
        ("imu_gyro_noise", math.nan),
        ("real_time_factor", math.nan),
        ("wrench_duration", math.inf),
        ("solver_sweep_limit", -1),
        ("solver_tolerance", 2.0),
        ("publish_rate", 0.0),
    ],
)
def test_bad_values_are_refused_and_say_what_is_allowed(bench, name, value):
    from rcl_interfaces.srv import GetParameters

    def present():
        request = GetParameters.Request(names=[name])
        kind = "rcl_interfaces/srv/GetParameters"
        return bench.listener.call("/hrpsim/get_parameters", request, kind).values[0]

    before = present()
    answer = bench.listener.set_parameter(name, value)
    assert not answer.successful
    assert name in answer.reason
    assert "Max: " in answer.reason
    assert present() == before


def test_a_tolerance_is_given_by_number_or_by_name(bench):
    """Law: one of them at a time; a name is one of the levels."""
    change = bench.listener.set_parameter
    assert "'exact'" in change("solver_accuracy", "good").reason
    assert change("solver_accuracy", "fast").successful
    try:
        assert "only one of" in change("solver_tolerance", 1e-3).reason
    finally:
        assert change("solver_accuracy", "").successful
    assert change("solver_tolerance", 1e-3).successful
    try:
        assert "only one of" in change("solver_accuracy", "fast").reason
    finally:
        assert change("solver_tolerance", 0.0).successful


def test_the_solver_can_be_told_to_stop_early(bench):
    diagnostics = bench.listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
    bench.send("joint_commands", JointState(name=["CHEST_JOINT1"], position=[0.3]))
    try:
        assert bench.listener.set_parameter("solver_sweep_limit", 1).successful
        bench.step(20)

        def values():
            return {v.key: v.value for m in diagnostics[-1:] for v in m.status[0].values}

        now = f"{bench.now:.9g}"  # others may be under way
        assert bench.listener.wait_for(lambda: values().get("simulated time [s]") == now)
        assert values()["solver iterations"] == "1"
    finally:
        assert bench.listener.set_parameter("solver_sweep_limit", 0).successful


def test_a_command_that_could_overflow_is_refused(bench):
    """Law: 1e308, which some programs send for "no value", stops nobody, and is named."""
    huge = JointState(name=["RLEG_JOINT3"], position=[1e300], velocity=[-1e308], effort=[1e308])
    bench.send("joint_commands", huge)
    assert np.isfinite(list(bench.step(10).values())).all()
    assert any(
        "joint 'RLEG_JOINT3' of 'hrp2'" in entry.msg and "at most 1e+12, got 1e+300" in entry.msg
        for entry in bench.log
    )


def test_a_step_that_cannot_be_done_leaves_the_last_state(bench):
    """Law: the answer names the command, with its joint and value, and no contact."""
    before = bench.step(1)
    with rotor_without_limits(bench.listener) as commands:
        bench.listener.send(commands, JointState(name=["spin"], effort=[1e12]))
        refused = bench.listener.call("/hrpsim/step")
    assert not refused.success
    assert "made 0 of 1 steps" in refused.message
    assert "would give numbers that are not finite" in refused.message
    assert "joint 'spin' of 'rotor' is commanded to effort 1e+12" in refused.message
    assert "could not be satisfied" not in refused.message
    assert bench.listener.wait_for(lambda: len(bench.states) > 3)
    assert dict(zip(bench.states[-1].name, bench.states[-1].position)) == {
        name: values[0] for name, values in before.items()
    }
    bench.reset()
    assert np.isfinite(list(bench.step(10).values())).all()


def test_markers_show_the_forces_that_carry_the_robot(bench):
    markers = bench.listener.collect("visualization_msgs/msg/MarkerArray", "contact_markers")
    bench.step(50)
    assert bench.listener.wait_for(lambda: markers and stamp_of(markers[-1]) == bench.now)
    arrows = [m for m in markers[-1].markers if m.ns == "force" and m.action == 0]
    (cones,) = (m for m in markers[-1].markers if m.ns == "friction")
    assert {m.header.frame_id for m in markers[-1].markers} == {"odom"}
    lifts = sum(m.points[1].z - m.points[0].z for m in arrows) / 0.001
    mass = hrpsim.load_world(ROOT / "config" / "stand.yaml").robots["hrp2"].model.mass
    assert lifts == pytest.approx(mass * 9.80665, rel=1e-3)
    apex, rim = cones.points[0], cones.points[1]
    side = np.array([rim.x - apex.x, rim.y - apex.y, rim.z - apex.z])
    assert np.hypot(*side[:2]) / side[2] == pytest.approx(0.8)  # the world file's friction

    bench.send("set_base_pose", pose((0.0, 0.0, 3.0)))
    bench.step(50)
    assert bench.listener.wait_for(lambda: stamp_of(markers[-1]) == bench.now)
    assert {m.action for m in markers[-1].markers} == {2}  # deleted


def stamp_of(markers):
    return pytest.approx(seconds(markers.markers[0]), abs=1e-9)


def test_diagnostics_tell_what_was_rejected(bench):
    diagnostics = bench.listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
    bench.send("joint_commands", JointState(name=["nobody"], position=[1.0]))

    def telling():  # the first may tell of a test before: commands beyond the limits
        return [m for m in diagnostics if "joint 'nobody' does not exist" in m.status[1].message]

    assert bench.listener.wait_for(telling)
    simulation, commands = telling()[0].status
    assert simulation.name == "hrpsim: simulation"
    assert simulation.message.startswith("paused")
    values = {v.key: float(v.value) for v in simulation.values if v.key != "converged"}
    assert values["contacts"] > 0
    assert values["largest penetration [m]"] < 1e-3
    assert commands.name == "hrpsim: commands of hrp2"
    assert commands.level == b"\x01"
    assert {v.key: v.value for v in commands.values}["publishers of joint_commands"] == "1"
