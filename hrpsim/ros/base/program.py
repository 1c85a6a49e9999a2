# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run a ROS program: signals, rclpy's start and end, exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable

from hrpsim.common.errors import HrpsimError, one_line
from hrpsim.common.interrupts import ends_while_computing
from hrpsim.common.orphans import end_with_parent
from hrpsim.ros.base.child_process import own_shared_memory
from hrpsim.ros.base.domain import profiles_variable

# The remedy for an error of rcl with these words.
_REMEDIES = {
    "log dir": "set ROS_LOG_DIR to a folder that can be written",
    "opening YAML file": "the file does not exist, or cannot be read",
    "ros__parameters": "it takes 'hrpsim: {ros__parameters: {real_time_factor: 2.0}}', each level "
    "further in than the one above",
}
_LONGEST_SILENCE = 1.0  # longest time without an answer of code that does not poll [s, wall]


class StopSignal:
    """Context manager that sets `requested` at signals. Use it for the life of a process.

    Until `loop_started` is called there is nothing to shut down, and the first signal raises
    KeyboardInterrupt. From then on signals only set `requested`. A second Ctrl-C therefore cannot
    interrupt the shutdown (a terminal and a launcher often send one each). A closed terminal sends
    SIGHUP, which stays ignored under `nohup`.

    User code may never return. After `user_code_started`, a signal raises KeyboardInterrupt in the
    user code if `requested` is not polled within 1 s. A further signal then ends the process.
    """

    def __init__(self) -> None:
        self.requested = False
        self._looping = False
        self._polled = False
        self._interrupted = False

    def __enter__(self) -> StopSignal:
        self._previous = {
            number: signal.signal(number, self._handle)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(self, *exception) -> None:
        self._polled = True
        for number, handler in self._previous.items():
            # After a request to end, the process ignores further signals.
            signal.signal(number, signal.SIG_IGN if self.requested else handler)

    def loop_started(self) -> None:
        """Declare that `requested` is polled regularly from now on.

        Raise KeyboardInterrupt if an earlier KeyboardInterrupt was lost. Python only prints an
        exception that is raised in a destructor or a callback of the interpreter.
        """
        self._looping = True
        if self.requested:
            raise KeyboardInterrupt

    def user_code_started(self) -> None:
        """Declare the same as `loop_started`, for a loop that calls user code."""
        if signal.SIGALRM not in self._previous:
            self._previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._interrupt)
        self.loop_started()

    def __call__(self) -> bool:
        """Return whether an end was requested."""
        self._polled = self._polled or self.requested
        return self.requested

    def _handle(self, number, frame) -> None:
        first = not self.requested
        self.requested = True
        if first and not self._looping:
            raise KeyboardInterrupt
        waits = signal.SIGALRM in self._previous and not self._polled
        if waits and not signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, _LONGEST_SILENCE)

    def _interrupt(self, number, frame) -> None:
        if self._polled:
            return
        if self._interrupted:
            os._exit(128 + signal.SIGINT)
        self._interrupted = True
        raise KeyboardInterrupt


def run_program(
    body: Callable[[StopSignal], int],
    arguments: list[str] | None,
    describe: Callable[[], str] | None = None,
) -> int:
    """Run `body(stop)` between rclpy's start and end. Return the exit code of `body`.

    arguments: command line, including arguments for ROS. The default is sys.argv.
    describe: returns the text of --help, for a program that takes arguments for ROS only. Any other
    argument is refused with 2.

    The exit code is 130 for a signal before the body has called `stop.loop_started()`. The exit
    code is 1, with one line of text, for invalid arguments, parameters and files.
    """
    if describe is not None:
        code = _answer_own_arguments(sys.argv[1:] if arguments is None else arguments, describe)
        if code is not None:
            return code
    with ends_while_computing(_leave_no_memory), StopSignal() as stop:
        try:
            end_with_parent()
            return _between_init_and_shutdown(body, arguments, stop)
        except KeyboardInterrupt:
            return 130


def _answer_own_arguments(arguments: list[str], describe: Callable[[], str]) -> int | None:
    """Print --help, or an error for an argument that is not for ROS. Return the exit code.

    None means that all arguments are for ROS.
    """
    from rclpy.utilities import remove_ros_args

    try:
        own = remove_ros_args(["", *arguments])[1:]
    except Exception as error:  # errors of rcl's argument parser, which also reads parameter files
        return _say_that_ros_cannot_start(error)
    if not own:
        return None
    if {"-h", "--help"} & set(own):
        try:
            print(describe(), flush=True)
        except BrokenPipeError:  # the reader has closed, and nothing remains to be written at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    print(
        f"hrpsim: unknown argument {own[0]!r}. Arguments for ROS follow --ros-args, as in "
        "--ros-args -p name:=value -r from:=to. See --help",
        file=sys.stderr,
        flush=True,
    )
    return 2


def _between_init_and_shutdown(body, arguments: list[str] | None, stop: StopSignal) -> int:
    import rclpy
    from rclpy.exceptions import NameValidationException, ParameterException
    from rclpy.signals import SignalHandlerOptions

    os.environ.update(profiles_variable(rclpy.__file__, os.environ))
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # errors of rcl's argument parser, or of the log folder
        return _say_that_ros_cannot_start(error)
    try:
        return body(stop)
    except (HrpsimError, OSError, ValueError, ParameterException, NameValidationException) as error:
        rclpy.logging.get_logger("hrpsim").fatal(_one_line(error))
        return 1
    finally:
        rclpy.shutdown()


def _say_that_ros_cannot_start(error: Exception) -> int:
    text = _one_line(error)
    for word, remedy in _REMEDIES.items():
        if word in text:
            text += f"; {remedy}"
    print(f"hrpsim: ROS cannot be started: {text}", file=sys.stderr, flush=True)
    return 1


def _leave_no_memory() -> None:
    for segment in own_shared_memory(os.getpid()):
        segment.unlink(missing_ok=True)


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line, without file positions in rcl's sources."""
    return re.sub(r", at \S+:\d+", "", one_line(error)) or type(error).__name__
