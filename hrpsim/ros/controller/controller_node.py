# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

r"""Program `hrpsim_controller`: runs a controller plug-in in a separate process, over ROS topics.

    ros2 run hrpsim hrpsim_controller --ros-args -p controller:=my_package.my_module:MyController \
    -p parameters_file:=gains.yaml -p lockstep:=true

docs/reference/controllers.md describes how to write a plug-in.
"""

from __future__ import annotations

import logging
import math
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from rclpy.executors import SingleThreadedExecutor

from hrpsim.common.constants import NANOSECONDS
from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.yaml_text import parse_yaml
from hrpsim.control.controller_group import ControllerGroup
from hrpsim.control.framework import controller_host, plugins, user_modules
from hrpsim.control.framework.controller import Command
from hrpsim.control.framework.controller_host import ControllerHost
from hrpsim.control.framework.plugins import read_parameters
from hrpsim.model.model import BASES, Model
from hrpsim.ros.base.graph_faults import PublisherWatch
from hrpsim.ros.base.guarded_node import AnsweringNode
from hrpsim.ros.base.parameters import (
    Specification,
    declare,
    describe,
    named_values,
    warn_of_unknown,
)
from hrpsim.ros.base.program import StopSignal, run_program
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.controller.controller_topics import (
    CommandPublisher,
    DescriptionListener,
    StateListener,
    WantedPeriod,
)
from hrpsim.ros.controller.manager_services import (
    GroupServices,
    ManagerServices,
    offer_manager_services,
)
from hrpsim.ros.controller.velocity_listener import VelocityListener, unused_velocities

_PACKAGE = Path(__file__).parents[2]
_WAIT = 0.02  # [s, wall]
_SERVICE_PERIOD = 0.1  # between two turns of the executor [s, wall]
_MOST_LEFT_OUT = 10  # largest number of successive ticks after missing ticks
_TIMEOUT = 3.0  # time without a state to answer, until a log entry [s, wall]
PARAMETERS = dict(
    controller=Specification("", "The controller: 'module:Class' or 'path/to/file.py:Class'"),
    parameters_file=Specification("", "YAML file with the controller's own parameters"),
    parameters=Specification(
        [""], "Its parameters one by one, 'name:=value'; they override the file"
    ),
    base=Specification("free", "Whether the robot has a 'free' or a 'fixed' base", choices=BASES),
    lockstep=Specification(
        False, "Answer each control tick with its own stamp; set it on the node too"
    ),
    listeners=Specification(
        1, "Number of subscribers to joint_commands until it is ready: 2 with a recorder", 1, 1000
    ),
    lead=Specification(
        0.03, "Without lockstep: commands are sent ahead of their time by [s]", 0.0, 1.0
    ),
    stamped_cmd_vel=Specification(
        False, "Whether cmd_vel, of controllers that walk by velocity, has TwistStamped"
    ),
)


class ControllerNode:
    """Runs a controller on the states of a robot, and publishes the commands.

    Raises HrpsimError for invalid parameters.
    """

    def __init__(self, **node_options) -> None:
        self.node = AnsweringNode("hrpsim_controller", **node_options)
        values = declare(self.node, PARAMETERS)
        warn_of_unknown(self.node, PARAMETERS)
        if not values["controller"]:
            raise HrpsimError("no controller is given. Add -p controller:=module:Class")
        self._controller = plugins.find_controller(values["controller"])()
        kinds = self._controller.parameter_kinds
        self._parameters = _own_parameters(values["parameters_file"], values["parameters"], kinds)
        self._lockstep, self._listeners = values["lockstep"], values["listeners"]
        self._stamped = values["stamped_cmd_vel"]
        self._velocities: VelocityListener | None = None
        self._unused = PublisherWatch(self.node, lambda: unused_velocities(self.node))
        self._lead_ns = round(values["lead"] * NANOSECONDS)
        self._description = DescriptionListener(self.node, values["base"])
        self._states: StateListener | None = None
        self._commands: CommandPublisher | None = None
        self._period_request: WantedPeriod | None = None  # during a request for another period
        self.host: ControllerHost | None = None
        self._group: GroupServices | None = None
        self._manager: ManagerServices | None = None
        self._period_ns = math.nan
        self._next_tick_ns: float | None = None
        self._last_tick: int | None = None
        self._left_out = 0
        self._last: tuple[Stamp, Command] | None = None
        self.command_count = 0

    @property
    def finished(self) -> bool:
        """Whether the controller has finished."""
        return self.host is not None and self.host.finished

    @property
    def is_ready(self) -> bool:
        """Whether the controller is configured and both directions of the loop are connected."""
        if self.host is None or self.is_asking:
            return False
        return self._is_heard and self._states.is_connected

    @property
    def is_asking(self) -> bool:
        """Whether the node still waits for the simulation's period of commands, in lockstep.

        Spin the node while this is true.
        """
        return self._period_request is not None

    @property
    def rejected_count(self) -> int:
        """The number of invalid messages."""
        of_states = self._states.rejections.count if self._states else 0
        return of_states + (self._velocities.rejections.count if self._velocities else 0)

    def spin_once(self) -> bool:
        """Wait briefly for the next event and handle the event.

        Return whether there was an event.
        """
        if self.host is None:
            return self._configure(self._description.wait(_WAIT))
        if self.is_asking:
            return self._compare_periods(self._period_request.poll())
        arrived = self._states.wait(_WAIT)
        if arrived is None:
            return False
        if self._velocities is None:
            self._unused.poll()
        else:
            self._velocities.poll(arrived[0])
        answer = self._answer_tick if self._lockstep else self._send_ahead
        has_news = answer(*arrived)
        if self._group is not None:
            self._group.publish_states()
        return has_news

    def describe_wait(self) -> str:
        """Return a text that names the awaited event."""
        if self.host is None:
            return "waiting for robot_description"
        if self._period_request is not None:
            return self._period_request.describe_wait()
        if not self._is_heard:
            subscribed = f"{self._commands.listener_count} of {self._listeners}"
            return f"waiting for subscribers to joint_commands: {subscribed}"
        if self._last is None or not self._lockstep:
            return self._states.describe_lack()
        return (
            f"waiting for the state after {self._last[0]} s, at a whole multiple of "
            f"the controller's period of {self._controller.period:g} s"
        )

    @property
    def _is_heard(self) -> bool:
        return self._commands.listener_count >= self._listeners

    def stop(self) -> None:
        """Stop the controller unless already stopped."""
        if self.host is not None:
            self.host.stop()

    def destroy(self) -> None:
        """Stop the controller. Remove the node from the graph after all commands have arrived."""
        try:
            self.stop()
            if self._commands is not None:
                self._commands.wait_until_delivered()
        finally:
            self.node.destroy_node()

    def _configure(self, described: tuple[Model, str] | None) -> bool:
        if described is None:
            return False
        model, robot = described
        self.host = ControllerHost(self._controller, model, self._parameters, robot)
        self._period_ns = self._controller.period * NANOSECONDS
        self._commands = CommandPublisher(self.node, self.host.joint_names)
        self._states = StateListener(self.node, model, self.host.needs)
        if self._lockstep:
            self._period_request = WantedPeriod(self.node, self._states.topic)
        if hasattr(self._controller, "command_velocity"):
            self._velocities = VelocityListener(self.node, self._controller, self._stamped)
        if isinstance(self._controller, ControllerGroup):
            self._group = GroupServices(self.node, self._controller)
            self._manager = offer_manager_services(self.node, self._controller)
        return True

    def _compare_periods(self, wanted: float | None) -> bool:
        """Return whether the simulation's period is known.

        Raise HrpsimError if the controller has another period.
        """
        if wanted is None:
            return False
        self._period_request = None
        if wanted and abs(wanted * NANOSECONDS - self._period_ns) > 1.0:
            raise HrpsimError(self._other_period(wanted))
        return True

    def _other_period(self, wanted: float, when: str = "") -> str:
        period = self._controller.period
        return (
            f"the controller's period is {period:g} s, but the simulation expects commands "
            f"{wanted:g} s apart{when}. Start the simulation with -p control_period:={period:g}"
        )

    def _answer_tick(self, stamp: Stamp, state) -> bool:
        """Publish the command for a state at a control tick.

        A repeated state gets the same command. Return whether the controller was called.
        """
        if self._last is not None and stamp == self._last[0]:
            self._commands.publish(*self._last)  # the node has not received it
            return False
        tick = round(stamp.total / self._period_ns)
        if abs(stamp.total - tick * self._period_ns) > 1.0:
            return False
        if self._last_tick is not None and tick != self._last_tick + 1:
            self._restart(stamp, tick)
        else:
            self._left_out = 0
        self._last_tick = tick
        self._last = stamp, self.host.command(state)
        self._commands.publish(*self._last)
        self.command_count += 1
        return True

    def _restart(self, stamp: Stamp, tick: int) -> None:
        """Restart the controller because a tick is missing, for example after a reset.

        Raises HrpsimError if ticks are missing every time: the periods then differ.
        """
        self._left_out = self._left_out + 1 if tick > self._last_tick else 0
        if self._left_out == _MOST_LEFT_OUT:
            apart = (tick - self._last_tick) * self._controller.period
            raise HrpsimError(self._other_period(apart, f" (at {stamp} s)"))
        self.host.restart()

    def _send_ahead(self, stamp: Stamp, state) -> bool:
        """Send a command to act `lead` later, if a period has passed since the last command."""
        stamp_ns = stamp.total
        if self._next_tick_ns is None or self._next_tick_ns - stamp_ns > self._period_ns:
            self._next_tick_ns = stamp_ns  # the first state, or a state of another node
            self.host.restart()
        if stamp_ns < self._next_tick_ns:
            return False
        passed = (stamp_ns - self._next_tick_ns) // self._period_ns
        self._next_tick_ns += (passed + 1) * self._period_ns
        command = self.host.command(state)
        self._commands.publish(Stamp(*divmod(stamp_ns + self._lead_ns, NANOSECONDS)), command)
        self.command_count += 1
        return True


def _own_parameters(file: str, texts: list[str], kinds) -> dict:
    """Return the parameters of the controller.

    Args:
        file: parameter file, "" for none.
        texts: "name:=value", which override the file.
        kinds: types of the parameters, for the file.
    """
    named = named_values("parameters", texts).items()
    return (read_parameters(file, kinds) if file else {}) | {
        name: parse_yaml(text, f"parameters: {name}", HrpsimError).data for name, text in named
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the controller to the end or until a signal arrives. Return the exit code.

    An error in the controller's own code ends the program with code 1. The traceback begins in that
    code.
    """
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    return run_program(_run, arguments, _describe)


def _describe() -> str:
    return f"{__doc__}\n{describe(PARAMETERS)}"


def _run(stop: StopSignal) -> int:
    return run_controller(stop, stop.user_code_started)


def run_controller(stop: Callable[[], bool], begun: Callable[[], None], **node_options) -> int:
    """Run one controller to the end or until `stop()` is true. Return the exit code.

    `begun` is called as soon as `stop` is polled regularly.
    """
    controller = None
    try:
        controller = ControllerNode(**node_options)
        begun()
        _follow(controller, stop)
        rejected = controller.rejected_count
        words = f", rejected {rejected} messages" if rejected else ""
        print(f"sent {controller.command_count} commands{words}", flush=True)
        controller.stop()
        return 0
    except Exception as error:
        _print_from_users_code(error)
        return 1
    finally:
        if controller is not None:
            controller.destroy()


def _follow(controller: ControllerNode, stop: Callable[[], bool]) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(controller.node)
    said_ready = False
    next_service = next_word = time.monotonic()
    next_word += _TIMEOUT
    try:
        while not stop() and not controller.finished:
            has_news = controller.spin_once()
            now = time.monotonic()
            if now >= next_service or controller.is_asking:
                executor.spin_once(timeout_sec=_WAIT if controller.is_asking else 0.0)
                next_service = now + _SERVICE_PERIOD
            if not said_ready and controller.is_ready:
                said_ready = True
                print("ready", flush=True)
            if has_news:
                next_word = now + _TIMEOUT
            elif now > next_word:
                print(controller.describe_wait(), flush=True)
                next_word = math.inf
    finally:
        executor.shutdown(timeout_sec=1.0)


def _print_from_users_code(error: Exception) -> None:
    """Print a traceback without the frames above the controller's code."""
    frame = error.__traceback__
    while frame is not None and _leads_to_users_code(_file_of(frame)):
        frame = frame.tb_next
    if isinstance(error, HrpsimError) and (frame is None or _PACKAGE in _file_of(frame).parents):
        print(f"hrpsim_controller: {error}", file=sys.stderr, flush=True)
    else:
        traceback.print_exception(type(error), error, frame or error.__traceback__)
        sys.stderr.flush()


def _file_of(frame: TracebackType) -> Path:
    return Path(frame.tb_frame.f_code.co_filename)


def _leads_to_users_code(file: Path) -> bool:
    hosts = {Path(module.__file__) for module in (controller_host, plugins, user_modules)}
    return file in hosts or _PACKAGE / "ros" in file.parents or "importlib" in str(file)


if __name__ == "__main__":
    sys.exit(main())
