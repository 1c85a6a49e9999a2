"""The life of a program of ROS: signals, rclpy's start and end, exit codes."""

from __future__ import annotations

import os
from collections.abc import Callable

from hrpsim.resources import share_path
from hrpsim.ros.stop_signal import StopSignal

_PROFILES = "config/fastdds_profiles.xml"
_PROFILES_VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")


def run_program(body: Callable[[StopSignal], int], arguments: list[str] | None) -> int:
    """Run `body(stop)` between rclpy's start and end; return its exit code.

    arguments: of the command line, those for ROS among them; sys.argv by default. The exit code is
    130 for a signal that came before the body said `stop.loop_started()`.
    """
    with StopSignal() as stop:
        try:
            return _between_init_and_shutdown(body, arguments, stop)
        except KeyboardInterrupt:
            return 130


def _between_init_and_shutdown(body, arguments: list[str] | None, stop: StopSignal) -> int:
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    if not any(os.environ.get(name) for name in _PROFILES_VARIABLES):
        os.environ[_PROFILES_VARIABLES[0]] = str(share_path(_PROFILES))
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        return body(stop)
    finally:
        rclpy.shutdown()
