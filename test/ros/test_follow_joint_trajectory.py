# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""FollowJointTrajectory over real DDS, by clients as those of MoveIt."""

import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from ros.conftest import AGAIN, LIMIT
from ros.messages import seconds
from ros.stepped import SteppedSimulation
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from hrpsim.ros.base import guarded_node
from hrpsim.ros.base.guarded_node import DeferringActionServer, GuardedNode, NodePart
from hrpsim.ros.base.parameters import ParameterError

pytest.importorskip("control_msgs.action")

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rclpy.action import ActionClient

from hrpsim.ros.robot.trajectory_actions import joints_of_actions

HEAD, RIGHT, LEFT = "HEAD_JOINT0", "RARM_JOINT0", "LARM_JOINT0"
GROUPS = "['left_arm:=LARM_JOINT.*','right_arm:=RARM_JOINT.*']"
ALL, LEFT_ARM, RIGHT_ARM = (
    f"{prefix}follow_joint_trajectory"
    for prefix in ("", "left_arm_controller/", "right_arm_controller/")
)
Result = FollowJointTrajectory.Result
SUCCEEDED, ABORTED, CANCELED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_ABORTED,
    GoalStatus.STATUS_CANCELED,
)


def duration(time):
    whole, rest = divmod(round(time * 1e9), 10**9)
    return Duration(sec=whole, nanosec=rest)


def goal(names, points, path=(), end=(), goal_time=0.0, stamp=0.0):
    """Return the goal for points (time, positions) or (time, positions, velocities)."""
    trajectory = JointTrajectory(joint_names=names)
    trajectory.header.stamp.sec, trajectory.header.stamp.nanosec = (
        int(stamp),
        round(stamp % 1.0 * 1e9),
    )
    for time, *values in points:
        fields = dict(zip(("positions", "velocities"), values))
        trajectory.points.append(JointTrajectoryPoint(time_from_start=duration(time), **fields))
    tolerances = [
        [JointTolerance(name=name, position=position, velocity=-1.0) for name, position in given]
        for given in (path, end)
    ]
    return FollowJointTrajectory.Goal(
        trajectory=trajectory,
        path_tolerance=tolerances[0],
        goal_tolerance=tolerances[1],
        goal_time_tolerance=duration(goal_time),
    )


class Sent:
    """A goal that a client has sent, as it is answered."""

    def __init__(self, listener, client, request):
        self.feedback = []
        future = client.send_goal_async(request, lambda m: self.feedback.append(m.feedback))
        assert listener.wait_for(future.done)
        self.handle = future.result()
        assert self.handle.accepted
        self._listener = listener
        self._result = self.handle.get_result_async()

    @property
    def is_done(self):
        return self._result.done()

    def answer(self):
        """Return status, error code and text."""
        assert self._listener.wait_for(self._result.done)
        response = self._result.result()
        return response.status, response.result.error_code, response.result.error_string


class Bench(SteppedSimulation):
    """A paused simulation, and clients of its actions."""

    def __init__(self, listener):
        super().__init__(listener)
        self.clients = {
            name: listener.action_client(FollowJointTrajectory, name)
            for name in (ALL, LEFT_ARM, RIGHT_ARM)
        }
        self.commands = listener.publisher("sensor_msgs/msg/JointState", "joint_commands")

    def send(self, request, action=ALL):
        return Sent(self.listener, self.clients[action], request)

    def step(self, steps):
        assert self.listener.set_parameter("step_count", steps).successful
        self.call("step")
        return {name: values[0] for name, values in self.joints().items()}

    def close(self):
        for client in self.clients.values():
            client.destroy()


@pytest.fixture(scope="module")
def shared_bench(module_simulations, module_listener):
    module_simulations.start(start_paused=True, trajectory_groups=GROUPS)
    bench = Bench(module_listener)
    yield bench
    bench.close()


@pytest.fixture
def bench(shared_bench):
    shared_bench.call("reset")
    return shared_bench


def test_a_goal_succeeds_where_the_trajectory_ends(bench):
    """Law: partial joints reach the last point; desired - actual is the error of the feedback."""
    sent = bench.send(
        goal(
            [HEAD, RIGHT],
            [(0.0, [0.0, 0.0], [0.0, 0.0]), (0.4, [0.2, -0.1], [0.0, 0.0])],
            path=[(HEAD, 0.1)],
            end=[(HEAD, 0.02), (RIGHT, 0.05)],
        )
    )
    bench.step(380)
    assert not sent.is_done
    # Each 50 ms. rclpy drops the feedback that it takes after the result, so it is awaited first.
    assert bench.listener.wait_for(lambda: len(sent.feedback) >= 7)
    reached = bench.step(620)
    assert sent.answer() == (SUCCEEDED, Result.SUCCESSFUL, "the goal is reached")
    assert reached[HEAD] == pytest.approx(0.2, abs=0.02)
    assert reached[RIGHT] == pytest.approx(-0.1, abs=0.05)

    times = [seconds(one) for one in sent.feedback]
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.05), abs=1e-6)
    for one in sent.feedback:
        assert one.joint_names == [HEAD, RIGHT]
        s = min(1.0, (one.desired.time_from_start.nanosec * 1e-9) / 0.4)
        assert one.desired.positions[0] == pytest.approx(0.2 * s * s * (3.0 - 2.0 * s), abs=1e-6)
        for field in ("positions", "velocities"):
            error = np.subtract(getattr(one.desired, field), getattr(one.actual, field))
            assert np.array(getattr(one.error, field)) == pytest.approx(error, abs=1e-12)


def goals_that_do_not_fit():
    one = [(1.0, [0.1])]
    several = goal([HEAD], one)
    several.multi_dof_trajectory.joint_names = ["floating_base"]
    negative = goal([HEAD], one, path=[(HEAD, -2.0)])
    return {
        "joint 'nose' does not exist": (Result.INVALID_JOINTS, goal(["nose"], one)),
        "more than once": (Result.INVALID_JOINTS, goal([HEAD, HEAD], [(1.0, [0.0, 0.0])])),
        "has no gains": (Result.INVALID_JOINTS, goal(["RLEG_BUSH_Z"], one)),
        "names no joint": (Result.INVALID_JOINTS, goal([], [(1.0, [])])),
        "no points": (Result.INVALID_GOAL, goal([HEAD], [])),
        "point 0 has 2 positions": (Result.INVALID_GOAL, goal([HEAD], [(1.0, [0.0, 0.0])])),
        "in point 0 are nan": (Result.INVALID_GOAL, goal([HEAD], [(1.0, [math.nan])])),
        "point 1 is at 1 s, not after": (Result.INVALID_GOAL, goal([HEAD], one * 2)),
        "multi_dof_trajectory": (Result.INVALID_GOAL, several),
        "path_tolerance of joint 'HEAD_JOINT0': position is -2": (Result.INVALID_GOAL, negative),
        "goal_tolerance of joint 'nose'": (
            Result.INVALID_JOINTS,
            goal([HEAD], one, end=[("nose", 0.1)]),
        ),
        "the stamp is in the past": (Result.OLD_HEADER_TIMESTAMP, goal([HEAD], one, stamp=0.001)),
    }


def test_what_does_not_fit_is_answered_and_changes_nothing(bench):
    """Law: an invalid goal is aborted with its code and cause; the running one continues."""
    bench.step(1200)
    running = bench.send(goal([HEAD], [(0.5, [0.3])]))
    bench.step(10)
    for cause, (code, request) in goals_that_do_not_fit().items():
        status, error_code, text = bench.send(request).answer()
        assert (status, error_code) == (ABORTED, code), text
        assert cause in text
    status, code, text = bench.send(goal([HEAD], [(1.0, [0.1])]), LEFT_ARM).answer()
    assert (status, code) == (ABORTED, Result.INVALID_JOINTS)
    assert "LARM_JOINT0" in text  # those that there are
    assert not running.is_done
    bench.step(1000)
    assert running.answer()[0] == SUCCEEDED


def test_a_violated_path_tolerance_aborts_and_holds(bench):
    """Law: a jump that no servo follows violates the tolerance; the joint then stays near."""
    far = goal([HEAD], [(0.01, [0.5], [0.0]), (2.0, [0.5], [0.0])], path=[(HEAD, 0.05)])
    sent = bench.send(far)
    bench.step(100)
    status, code, text = sent.answer()
    assert (status, code) == (ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "joint 'HEAD_JOINT0' has the position" in text
    assert "its path tolerance is 0.05" in text
    assert bench.step(1000)[HEAD] < 0.3


def test_a_violated_goal_tolerance_aborts_after_the_goal_time(bench):
    """Law: a servo with a static error does not reach its target closer than that error."""
    sent = bench.send(goal([RIGHT], [(0.2, [-0.5])], end=[(RIGHT, 1e-9)], goal_time=0.3))
    bench.step(480)
    assert not sent.is_done  # 0.2 s + 0.3 s
    bench.step(40)
    status, code, text = sent.answer()
    assert (status, code) == (ABORTED, Result.GOAL_TOLERANCE_VIOLATED)
    assert "joint 'RARM_JOINT0' has the position" in text
    assert "its goal tolerance is 1e-09" in text


def test_a_cancelled_goal_holds_the_present_position(bench):
    """Law: after a cancel the joint stays where it was then, also while time stands."""
    sent = bench.send(goal([HEAD], [(1.0, [0.5], [0.0])]))
    before = bench.step(500)[HEAD]
    assert before == pytest.approx(0.25, abs=0.03)
    future = sent.handle.cancel_goal_async()
    assert bench.listener.wait_for(future.done)
    assert len(future.result().goals_canceling) == 1
    assert sent.answer()[0] == CANCELED  # no step was made
    assert bench.step(1000)[HEAD] == pytest.approx(before, abs=0.03)


def test_a_new_goal_replaces_the_running_one(bench):
    """Law: the old goal is aborted, the new one reached; other joints of the old one stop."""
    old = bench.send(goal([HEAD, RIGHT], [(1.0, [0.5, -0.5], [0.0, 0.0])]))
    before = bench.step(500)
    new = bench.send(goal([HEAD], [(0.2, [0.1])]))
    after = bench.step(700)
    assert old.answer() == (ABORTED, Result.INVALID_GOAL, "a new goal has replaced this one")
    assert new.answer()[0] == SUCCEEDED
    assert after[HEAD] == pytest.approx(0.1, abs=0.01)
    assert after[RIGHT] == pytest.approx(before[RIGHT], abs=0.03)


def test_both_arms_move_at_once_and_commands_take_their_joints(bench):
    """Law: groups do not disturb each other; a command to a joint aborts the goal that has it."""
    left = bench.send(goal([LEFT], [(0.5, [-0.3])]), LEFT_ARM)
    right = bench.send(goal([RIGHT], [(1.0, [-0.4])]), RIGHT_ARM)
    bench.step(300)
    bench.listener.send(bench.commands, JointState(name=[RIGHT], position=[0.0]))
    reached = bench.step(900)
    assert left.answer()[0] == SUCCEEDED
    assert reached[LEFT] == pytest.approx(-0.3, abs=0.05)
    assert right.answer() == (
        ABORTED,
        Result.INVALID_GOAL,
        "joint 'RARM_JOINT0' was commanded by another message",
    )
    assert reached[RIGHT] == pytest.approx(0.0, abs=0.05)


def test_a_reset_aborts_what_is_running(bench):
    sent = bench.send(goal([HEAD], [(1.0, [0.5])]))
    bench.step(100)
    bench.call("reset")
    assert sent.answer() == (ABORTED, Result.INVALID_GOAL, "another state of the world was set")


def test_groups_are_named_by_patterns():
    """Law: a group has the joints whose whole names match; all are in the robot's own action."""
    names = ["LARM_JOINT0", "LARM_JOINT1", "HEAD_JOINT0"]
    assert joints_of_actions(names, ["left_arm:=LARM_JOINT.*", "tail:=TAIL.*", ""]) == {
        ALL: names,
        LEFT_ARM: names[:2],
    }
    for bad in ("left arm:=LARM.*", "left_arm:=(", "left_arm"):
        with pytest.raises(ParameterError, match="trajectory_groups"):
            joints_of_actions(names, [bad])


class LaterServer(DeferringActionServer):
    """Answers as with an rclpy without the private members that send at once."""

    def _send(self, goal_handle, result):
        return False


@pytest.mark.parametrize("kind", [DeferringActionServer, LaterServer])
def test_results_are_sent_at_once_or_by_the_executor(module_listener, kind):
    """Law: rclpy's public interface alone delivers the same answer."""
    node, begun, name = module_listener.node, [], kind.__name__
    server = kind(node, FollowJointTrajectory, name, handle_accepted_callback=begun.append)
    client = ActionClient(node, FollowJointTrajectory, name)
    try:
        assert module_listener.wait_for(client.server_is_ready)
        sent = Sent(module_listener, client, FollowJointTrajectory.Goal())
        begun[0].execute()
        begun[0].succeed()
        server.answer(begun[0], Result(error_string="done"))
        assert sent.answer() == (SUCCEEDED, Result.SUCCESSFUL, "done")
    finally:
        client.destroy()
        server.destroy()


@pytest.fixture
def leaving(listener):
    """A part of a node, and a client of the action that it offers."""
    node = GuardedNode("leaving", context=listener.context)
    listener._executor.add_node(node)
    client = ActionClient(listener.node, FollowJointTrajectory, "leaving")
    yield NodePart(node), client
    client.destroy()
    listener._executor.remove_node(node)
    node.destroy_node()


def test_a_server_that_leaves_rejects_goals(leaving, listener, monkeypatch):
    """Law: it waits for its last results without new goals; its successor takes them; it goes."""
    part, client = leaving
    accepted = []

    def offer():
        part.create_action_server(
            FollowJointTrajectory, "leaving", handle_accepted_callback=accepted.append
        )
        assert listener.wait_for(client.server_is_ready)

    def answer(limit=LIMIT):
        future = client.send_goal_async(FollowJointTrajectory.Goal())
        return listener.wait_for(future.done, limit) and future.result().accepted

    monkeypatch.setattr(guarded_node, "_LINGER", LIMIT)
    offer()
    assert answer()
    part.destroy()
    assert not answer() and len(accepted) == 1
    offer()
    assert listener.wait_for(lambda: answer(AGAIN))  # asked again until it is found
    monkeypatch.setattr(guarded_node, "_LINGER", 0.01)
    part.destroy()
    assert listener.wait_for(lambda: not client.server_is_ready())
