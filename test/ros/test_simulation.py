# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A Simulation without ROS: time, pause, reset, commands, lockstep, what comes and goes."""

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ros.conftest import LIMIT
from ros.stand_ins import ARM, Log, Rig

import hrpsim
from hrpsim import WorldError
from hrpsim.model.shapes.placement import IDENTITY
from hrpsim.model.system import REVOLUTE
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.core.turns import make_steps
from hrpsim.ros.robot.joint_commands import LimitWatch
from hrpsim.ros.robot.lockstep import CommandMissed
from hrpsim.ros.simulation.simulation_node import heartbeat
from hrpsim.world.objects.plausibility import JointLimits

PACKAGE = Path(hrpsim.__file__).parent

IMPORTS = """
import importlib, sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in ("rclpy", "launch") or root.endswith(("_msgs", "_srvs", "_interfaces")):
            raise ModuleNotFoundError(f"no ROS here: {name}", name=name)

sys.meta_path.insert(0, NoRos())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def turn_nothing(longest):
    """Be a host of whom nothing is asked."""


def after(simulation, steps):
    """Return what asks for an end after a number of steps, or of paused turns."""
    turns = iter(range(100_000))
    return lambda: simulation.clock.steps >= steps or next(turns) > 10 * steps


def test_modules_that_need_no_ros_import_none():
    """Law: what says "Needs no ROS" can be imported where there is none."""
    named = []
    for path in sorted((PACKAGE / "ros").rglob("*.py")):
        if "needs no ros" in path.read_text().split('"""')[1].lower():
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            named.append(".".join(parts))
    assert "hrpsim.ros.core.simulation" in named and len(named) > 12
    command = [sys.executable, "-c", IMPORTS, *named]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr


def test_it_runs_for_a_duration_and_publishes_at_its_period():
    """Law: the state is told at the start and at each multiple of the period, once."""
    rig = Rig(real_time_factor=0.0)
    rig.simulation.run(turn_nothing, lambda: False, duration=0.02)
    assert rig.simulation.clock.steps == 20
    assert rig.publications.times == [0, 5, 10, 15, 20]
    assert rig.simulation.world.time == pytest.approx(0.02)


def test_paused_it_makes_no_step_until_it_resumes():
    rig = Rig(real_time_factor=0.0, paused=True)
    turns = []

    def turn(longest):
        turns.append(longest)
        if len(turns) == 3:
            rig.simulation.resume()

    rig.simulation.run(turn, after(rig.simulation, 5))
    assert turns[:3] == [0.02] * 3 and rig.publications.repeated == 2
    assert rig.simulation.clock.steps == 5


def test_a_reset_restores_the_world_and_lets_time_go_on():
    """Law: the first state comes back bit by bit; no stamp stands for two states."""
    rig = Rig()
    simulation = rig.simulation
    first = simulation.world.scene.q.copy()
    rig.send(position=[0.4])
    simulation.advance(12)
    simulation.publish_last()
    assert rig.target == 0.4 and not np.array_equal(simulation.world.scene.q, first)
    rig.send(position=[0.2])
    simulation.reset()
    assert np.array_equal(simulation.world.scene.q, first)
    assert simulation.clock.steps == 15 and simulation.world.time == 0.0
    simulation.advance(1)
    assert rig.target == 0.0  # what waited was meant for the time before
    assert rig.publications.times == sorted(set(rig.publications.times))


def test_a_command_waits_for_its_stamp():
    """Law: a message acts in the step that begins at its stamp, in whatever pieces steps come."""
    for pieces in ([10], [1] * 10, [3, 7]):
        rig = Rig()
        rig.send(position=[0.4], steps=4)
        targets = []
        step = rig.simulation.world.step

        def spied(steps, step=step, rig=rig, targets=targets):
            targets.extend([rig.target] * steps)
            step(steps)

        rig.simulation.world.step = spied
        for piece in pieces:
            rig.simulation.advance(piece)
        assert targets == [0.0] * 4 + [0.4] * 6


def test_a_rejected_message_has_done_nothing():
    """Law: whatever is wrong is found before anything is written."""
    rig = Rig()
    rig.send(position=[0.4])
    rig.simulation.advance(1)
    before = rig.simulation.world.scene.control.copy()
    for fields in (
        {"position": [np.inf]},
        {"position": [0.1], "velocity": [np.nan, 0.0]},
        {"name": ["j", "k"], "position": [0.1, 0.2]},
        {"name": ["j", "j"], "position": [0.1, np.nan]},
        {},
    ):
        rig.send(**fields)
        rig.commands.poll()
    assert rig.rejections.count == 5 and rig.commands.accepted_count == 1
    assert np.array_equal(rig.simulation.world.scene.control, before)
    rig.send(position=[np.nan], effort=[1.0])
    rig.commands.poll()
    assert rig.commands.accepted_count == 2
    assert "some fields are NaN, so only the other fields command j" in rig.log.lines[-1]
    rig.send(position=[np.nan])
    rig.commands.poll()
    assert "all values are NaN, so the last command holds for j" in rig.log.lines[-1]
    told = len(rig.log.lines)
    rig.send(position=[np.nan])
    rig.commands.poll()
    assert rig.commands.accepted_count == 4 and len(rig.log.lines) == told


def test_in_lockstep_a_tick_takes_the_command_with_its_stamp():
    """Law: no step is made at a tick before its command has come; others are rejected."""
    rig = Rig("pause")
    simulation = rig.simulation
    rig.send(position=[0.1], steps=0)
    simulation.advance(5)
    assert simulation.clock.steps == 5 and rig.target == 0.1
    rig.send(position=[0.3], steps=10)
    with pytest.raises(WorldError, match="lockstep waits for /joint_commands"):
        simulation.advance(1)
    assert simulation.clock.steps == 5 and "its stamp is ahead" in rig.rejections.last
    rig.send(position=[0.2], steps=5)
    simulation.advance(1)
    assert simulation.clock.steps == 6 and rig.target == 0.2
    assert len(rig.lockstep.take_round_trips()) == 2


def test_the_policy_says_what_follows_a_missed_command():
    """Law: "hold" goes on with the last command, "abort" ends the run."""
    rig = Rig("hold", timeout=0.01)
    rig.simulation.advance(5)
    assert rig.simulation.clock.steps == 5
    assert (rig.lockstep.stall_count, rig.lockstep.held_count) == (1, 1)
    rig = Rig("abort", timeout=0.01)
    with pytest.raises(CommandMissed):
        rig.simulation.run(turn_nothing, lambda: False)
    assert rig.simulation.clock.steps == 0


def test_a_reset_ends_a_stall_and_says_so():
    rig = Rig("pause", timeout=0.01)
    with pytest.raises(WorldError):
        rig.simulation.advance(1)
    assert rig.lockstep.is_stalled
    rig.simulation.reset()
    assert not rig.lockstep.is_stalled
    assert rig.log.lines[-1].startswith("lockstep continues after")


def test_a_step_that_fails_pauses_and_is_named():
    """Law: the run goes on, paused, in the last state; a run of a duration ends with the error."""
    rig = Rig(real_time_factor=0.0)

    def fail(steps):
        raise WorldError("the arm is off")

    rig.simulation.world.step = fail
    rig.simulation.run(turn_nothing, after(rig.simulation, 5))
    assert rig.simulation.paused and rig.simulation.failure == "the arm is off"
    assert rig.log.lines[-1] == "paused: the arm is off"
    rig.simulation.resume()
    with pytest.raises(WorldError, match="the arm is off"):
        rig.simulation.run(turn_nothing, lambda: False, duration=1.0)


def test_robots_come_and_go():
    """Law: what cannot be shown is not in the world either."""
    rig = Rig()
    simulation, world = rig.simulation, rig.simulation.world
    entity, topics = simulation.contents.spawn("", "", ARM, IDENTITY, allow_renaming=True)
    assert (entity.name, topics, rig.robots.added) == ("arm_2", "arm_2/", ["arm_2"])
    rig.robots.add = lambda robot, namespace: (_ for _ in ()).throw(Refusal("NAME_INVALID", "no"))
    with pytest.raises(Refusal):
        simulation.contents.spawn("third", "", ARM, IDENTITY)
    assert list(world.robots) == ["arm", "arm_2"]
    assert simulation.contents.delete("arm_2") == 0 and list(world.robots) == ["arm"]
    assert simulation.contents.delete_spawned() == 0 and rig.robots.dropped == 2


def test_the_end_of_a_controller_is_no_fault():
    """Law: who has commanded and left is named as such, once; who stays silent is warned of."""
    rig = Rig("pause", timeout=0.01)
    rig.log.warning = lambda text: pytest.fail(text)
    rig.send(position=[0.1])
    rig.simulation.advance(5)
    rig.topic.publishers = 0
    with pytest.raises(WorldError):
        rig.simulation.advance(1)
    (told,) = rig.log.lines
    assert "the sender of /joint_commands has left. Simulated time waits at 0.005" in told


def test_commands_beyond_limits_are_counted_and_named_once_a_second():
    """Law: each message counts; of those within a second the first is told."""
    turn = SimpleNamespace(unit="rad")
    system = SimpleNamespace(
        lower=np.array([-1.0, -np.inf]),
        upper=np.array([2.0, np.inf]),
        velocity_limit=np.array([3.0, np.inf]),
        effort_limit=np.array([10.0, 5.0]),
    )
    joints = [
        SimpleNamespace(name=name, v_index=k, joint_type=REVOLUTE, motion=turn)
        for k, name in enumerate(("hip", "knee"))
    ]
    log, times = Log(), iter([0.0, 0.5, 1.5])
    watch = LimitWatch(JointLimits(system, joints), log, clock=lambda: next(times))
    watch.look("/t", ["hip", "knee"], {"positions": np.array([2.0, 99.0])})
    watch.look("/t", ["knee"], {"velocities": np.array([1e6]), "positions": np.array([np.nan])})
    assert watch.count == 0
    watch.look("/t", ["knee", "hip"], {"efforts": np.array([-6.0, 11.0])})
    watch.look("/t", ["hip"], {"positions": np.array([2.1])})
    watch.look("/t", ["hip"], {"velocities": np.array([-3.5])})
    assert watch.count == 3 and len(log.lines) == 2
    assert "effort -6 of 'knee' is not within -5 to 5, and 1 more" in log.lines[0]
    assert "velocity -3.5 of 'hip'" in log.lines[1]


def test_a_heartbeat_ends_with_its_block():
    beats = []
    end = time.monotonic() + LIMIT
    with heartbeat(0.01, beats.append):
        while len(beats) < 2 and time.monotonic() < end:
            time.sleep(0.01)
    count = len(beats)
    assert count > 1 and beats == sorted(beats)
    time.sleep(0.05)
    assert len(beats) == count


def test_requests_of_steps_at_the_same_time_are_each_made_in_full():
    """Law: two requests that take turns end after their own numbers of steps."""
    simulation = Rig(paused=True, loaded=object()).simulation
    advance, begun = simulation.advance, simulation.clock.steps
    simulation.advance = lambda steps, longest: advance(min(steps, 3))
    requests = [make_steps(simulation, 10), make_steps(simulation, 8)]
    for _ in range(5):
        for one in list(requests):
            try:
                one.send(None)
            except StopIteration:
                requests.remove(one)
    assert not requests and simulation.clock.steps == begun + 18
