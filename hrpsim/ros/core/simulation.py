# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A running world: simulated time, rate, pause, steps, reset. Needs no ROS."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from hrpsim.common.errors import WorldError
from hrpsim.control.framework.pacing import Pacer
from hrpsim.engine.compile.compiler_beside import CompilerBeside
from hrpsim.engine.compile.lazy_kernels import KernelsAbsent
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.base.faults import Faults
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.core.simulation_contents import LoadedWorld, SavedStates, SimulationContents
from hrpsim.ros.core.step_account import SolverSettings, StepAccount
from hrpsim.ros.robot.lockstep import CommandMissed
from hrpsim.world.world import World

_FAREWELL = 0.25  # time from a request to end until the end, for sending answers [s, wall]
_TURN = 0.02  # period of the host's turns [s, wall]
_LONGEST_BURST = 0.05  # longest time of steps between two polls of requests [s, wall]


class Input(Protocol):
    """The interface of inputs, such as a topic or a drag in the viewer."""

    def poll(self) -> None:
        """Read the messages that are due."""

    def apply(self) -> None:
        """Apply the requests for the next step."""

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before `poll` must be called again."""


class Simulation:
    """A running world, which is stepped in wall time and on request, with inputs and publications.

    `robots` is a RobotInterfaces, `publications` a StatePublisher. Simulated time is the number of
    steps since the start times the time step. Simulated time continues after a reset and in another
    world. After an unload there is an empty world, which cannot be stepped. `failure` states why a
    step failed, after which the simulation is paused in the last state.

    While a step waits for kernels that another process compiles (`kernels`), time stops and
    requests are answered. `era` counts how often the state was replaced.
    """

    def __init__(
        self,
        entities: Entities,
        clock: SimulationClock,
        robots,
        publications,
        faults: Faults,
        *,
        real_time_factor: float = 1.0,
        paused: bool = False,
        loaded: LoadedWorld | None = None,
    ) -> None:
        self.entities = entities
        self.clock = clock
        self.robots = robots
        self.publications = publications
        self.faults = faults
        self.pacer = Pacer(self.world.time_step, real_time_factor)
        self.solver = SolverSettings(self.world)
        self.account = StepAccount(clock)
        self.paused = paused
        self.contents = SimulationContents(entities, robots, loaded)
        self.compiling: Callable[[], AbstractContextManager] = nullcontext  # for compilation
        self.kernels = CompilerBeside()
        self.era = 0
        self._waits_for_kernels = False
        self.world_changed: list[Callable[[], None]] = []  # called after a change of world
        self.states = SavedStates()
        self.failure = ""
        self._stopped_at = clock.steps if paused else -1  # step of the initial state
        self._end = math.inf  # [s, wall]
        self.other_inputs: list[Input] = []  # other inputs than those of robots
        self._missed_command: CommandMissed | None = None
        self._burst = 1  # number of steps that take less than _LONGEST_BURST
        self._stop_requested: Callable[[], bool] = lambda: False

    def run(
        self,
        turn: Callable[[float], None],
        stop_requested: Callable[[], bool],
        duration: float = 0.0,
    ) -> None:
        """Step and publish until `stop_requested()` or until `duration` [s] has been simulated.

        `turn(longest)` runs the host's callbacks for at most `longest` [s, wall]. Raises
        CommandMissed if a command is late and the policy of lockstep is "abort". Raises WorldError
        for a step that fails in a run with a `duration`.
        """
        self._stop_requested = stop_requested
        self._publish()
        self.pacer.start()
        while not (stop_requested() or self._is_over(duration)):
            if self._missed_command:
                raise self._missed_command
            if self.paused:
                self._wait_paused(turn)
                continue
            if self._waits_for_kernels:
                self._wait_for_kernels(turn)
                continue
            turn(0.0)
            if self.paused or not self._wait_for_commands():
                continue
            due = self._steps_to_publication()
            if duration:
                due = min(due, self._last_step(duration) - self.clock.steps)
            due = self.pacer.steps_due(due)
            if due == 0:
                self.pacer.wait(longest=_TURN)
            else:
                self._advance_or_pause(due, unattended=duration > 0.0)
                self.pacer.made(due)

    def advance(self, steps: int, longest: float = math.inf) -> None:
        """Apply the waiting commands, make `steps` steps, and send the publications that are due.

        Fewer steps are made if the end is requested meanwhile, or after `longest` [s, wall]. Raises
        WorldError if a step fails or, in lockstep, the command for a tick is late. Raises
        KernelsAbsent if a step waits for kernels.
        """
        end, latest = self.clock.steps + steps, time.monotonic() + longest
        while self.clock.steps < end and not self.is_ending:
            inputs = [*self.robots.inputs, *self.other_inputs]
            self._poll(inputs)
            burst = min(end - self.clock.steps, self._steps_to_publication(), self._burst)
            for robot_input in inputs:
                burst = robot_input.steps_to_next(burst)
            for robot_input in inputs:
                robot_input.apply()
            self._step(burst)
            if self._publication_is_due():
                self._publish()
            if time.monotonic() >= latest:
                return

    def publish_last(self) -> None:
        """Publish the state after requested steps, even if no publication is due."""
        if not self._publication_is_due():
            self._publish(everything=True)
        self.publications.publish_slowly(everything=True)

    def pause(self) -> None:
        """Stop simulated time."""
        self.paused = True
        self._stopped_at = -1

    def resume(self) -> None:
        """Continue to step. Simulated time does not catch up with the pause."""
        self.contents.require_world()
        self.paused = False
        self._stopped_at = -1
        self.failure = ""
        self.pacer.start()
        self.account.begin_interval()
        for lockstep in self.robots.locksteps:
            lockstep.forget_wait()

    @property
    def state(self) -> str:
        """One of: playing, paused, stopped (in the initial state), no_world, quitting."""
        if self._end < math.inf:
            return "quitting"
        if self.contents.loaded is None:
            return "no_world"
        if not self.paused:
            return "playing"
        return "stopped" if self.clock.steps == self._stopped_at else "paused"

    def stop(self) -> None:
        """Pause, remove all spawned entities and restore the initial state."""
        self.contents.require_world()
        self.pause()
        self.contents.delete_spawned()
        self.reset()
        self._stopped_at = self.clock.steps

    def quit(self) -> None:
        """Stop, and make `run` return soon. Earlier requests still get responses."""
        if self.contents.loaded is not None:
            self.stop()
        self._end = time.monotonic() + _FAREWELL

    def load(self, world, loaded: LoadedWorld) -> None:
        """Simulate another world, stopped in the initial state. Simulated time continues.

        Raises HrpsimError, without any change, if that world cannot be stepped or published.
        Raises KernelsAbsent, without any change, while kernels of that world are being compiled.
        """
        with self.compiling():
            compile_step(world)
        self.robots.check(world)
        try:
            self._switch_to(world, loaded)
        except BaseException:
            self._switch_to(World(time_step=world.time_step), None)
            raise
        self._stopped_at = self.clock.steps

    def unload(self) -> None:
        """Unload the world. Raises Refusal without a world."""
        if self.contents.loaded is None:
            raise Refusal("NO_WORLD_LOADED", "no world is loaded")
        self._switch_to(World(time_step=self.world.time_step), None)

    def reset(self) -> None:
        """Restore the initial state of the world. Time continues. Waiting commands are dropped."""
        self.contents.require_world()
        was_stopped = self.state == "stopped"
        self.entities.restore_first()
        self._restart()
        if was_stopped:
            self._stopped_at = self.clock.steps

    def save_state(self, name: str) -> None:
        """Save the present state of the world under a name."""
        self.contents.require_world()
        self.states.save(name, self.world)

    def load_state(self, name: str) -> None:
        """Restore a saved state, bit for bit. Time continues. Waiting commands are dropped."""
        self.contents.require_world()
        self.states.restore(name, self.world)
        self._restart()
        self._stopped_at = -1

    @property
    def world(self):
        """The simulated World."""
        return self.entities.world

    @property
    def is_ending(self) -> bool:
        """Whether the end of `run` was requested."""
        return self._stop_requested()

    def _restart(self) -> None:
        """Continue the simulation after the state was reset or restored."""
        self.era += 1
        self._waits_for_kernels = False
        self.robots.reset()
        self.solver.apply()
        self.failure = ""
        self._go_to_next_stamp()

    def _switch_to(self, world, loaded: LoadedWorld | None) -> None:
        """Replace the world in all parts of the simulation, and pause."""
        self.pause()
        self.era += 1
        self._waits_for_kernels = False
        self.failure, self.contents.loaded = "", loaded
        self.entities.hold(world, loaded.notes.entities if loaded else None)
        self.clock.change_step(world.time_step)
        self.pacer = Pacer(world.time_step, self.pacer.real_time_factor)
        self.solver = self.solver.of(world)
        self._burst = 1
        self.robots.hold(world)
        self.publications.hold(world)
        self.states.clear()
        for notify in self.world_changed:
            notify()
        self.contents.notify()
        self._go_to_next_stamp()

    def _go_to_next_stamp(self) -> None:
        """Advance time to the next publication or tick, and publish.

        Two different states must not have the same stamp.
        """
        locksteps = self.robots.locksteps
        self.clock.steps += (
            locksteps[0].steps_over_reset() if locksteps else self._steps_to_publication()
        )
        self._publish(everything=True)

    def _last_step(self, duration: float) -> int:
        return round(duration / self.clock.time_step)

    def _is_over(self, duration: float) -> bool:
        """Return whether the end set by `quit` or by a duration [s] has come."""
        if duration and self.clock.steps >= self._last_step(duration):
            return True
        return time.monotonic() >= self._end

    def _poll(self, inputs: Iterable[Input]) -> None:
        """Read the inputs that are due. In lockstep, wait for due inputs up to the time-out."""
        for robot_input in inputs:
            robot_input.poll()
        locksteps = self.robots.locksteps
        if not locksteps:
            return
        end = time.monotonic() + max(ls.timeout for ls in locksteps)
        while not self._wait_for_commands():
            waiting = next(ls for ls in locksteps if ls.is_waiting)
            late = time.monotonic() > end and waiting.policy == "pause"
            if late or self.is_ending:
                raise WorldError(waiting.describe_wait())

    def _wait_for_commands(self) -> bool:
        """Wait briefly for the commands of a lockstep tick. Return whether steps can be made."""
        if not self.robots.locksteps:
            return True
        try:
            if self.robots.wait(_TURN):
                return True
        except CommandMissed as missed:
            self._missed_command = missed
            raise
        self.publications.repeat_if_due()
        return False

    def _advance_or_pause(self, steps: int, unattended: bool) -> None:
        try:
            self.advance(steps)
        except CommandMissed:
            raise
        except KernelsAbsent:
            self._waits_for_kernels = True
        except Exception as error:
            self.failure = self.faults.explain(error, "a step")
            if unattended:
                raise WorldError(self.failure) from error
            self.pause()
            self.faults.say(f"paused: {self.failure}")

    def _step(self, steps: int) -> None:
        world, start = self.world, time.perf_counter()
        before = world.time
        try:
            world.step(steps)
            self.clock.steps += steps
        except (WorldError, KernelsAbsent) as error:
            self.clock.steps += round((world.time - before) / world.time_step)
            if isinstance(error, WorldError):
                self.failure = str(error)
            raise
        finally:
            took = time.perf_counter() - start
            self._burst = max(1, int(steps * _LONGEST_BURST / took))
            self.account.count(took, world.stats.last_call)

    def _wait_paused(self, turn: Callable[[float], None]) -> None:
        """Run the host's callbacks. Repeat the state for nodes that start during a pause."""
        for robot_input in self.robots.inputs:
            robot_input.poll()
        turn(_TURN)
        if self.paused:
            self.publications.repeat_if_due()

    def _wait_for_kernels(self, turn: Callable[[float], None]) -> None:
        """Run the host's callbacks while kernels are compiled. Time does not catch up later."""
        if self.kernels.is_busy:
            self.publications.repeat_if_due()
            turn(_TURN)
        else:
            self._waits_for_kernels = False
        self.pacer.start()

    def _publish(self, everything: bool = False) -> None:
        for lockstep in self.robots.locksteps:
            lockstep.begin_round_trip()
        self.publications.publish(everything)

    def _publication_is_due(self) -> bool:
        locksteps = self.robots.locksteps
        return (bool(locksteps) and locksteps[0].at_tick) or self.publications.is_due

    def _steps_to_publication(self) -> int:
        steps = self.publications.steps_to_next()
        locksteps = self.robots.locksteps
        return locksteps[0].steps_to_next(steps) if locksteps else steps


def compile_step(world) -> None:
    """Step once and restore the state, to compile kernels before the first step."""
    first = world.snapshot()
    world.step()
    world.restore(first)
