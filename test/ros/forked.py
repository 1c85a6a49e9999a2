# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Programs forked from a process that has imported what they need."""

import ctypes
import multiprocessing
import os
import runpy
import signal
import sys
import traceback
from contextlib import suppress

from hrpsim.common.orphans import signal_at_parent_end
from hrpsim.ros.base.child_process import ChildProcess

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "hrpsim.ros.simulation.simulation_node",
        "hrpsim.ros.simulation.world_setup",
        "hrpsim.ros.simulation.simulation_services",
        "hrpsim.ros.robot.trajectory_actions",
        "hrpsim.ros.controller.controller_node",
        "hrpsim.commands.record",
        "hrpsim.ros.recording.recorder",
        "hrpsim.bag",
        "hrpsim.engine.compile.machine_code",
        "rosidl_generator_py",
    ]
)


class ForkedProcess(ChildProcess):
    """Runs `python -m` with the arguments `command`, in a fork of that process."""

    def _start(self, command, environment):
        return _Fork(command, environment)


class _Fork(_CONTEXT.Process):
    """Has what ChildProcess uses of subprocess.Popen."""

    def __init__(self, command, environment):
        output, inlet = multiprocessing.Pipe(duplex=False)
        super().__init__(target=_run, args=(command, environment, inlet), daemon=True)
        self.start()
        inlet.close()
        self._output = output  # whose end closes the file
        self.stdout = open(output.fileno(), errors="replace", closefd=False)

    def poll(self):
        return self.exitcode

    wait = _CONTEXT.Process.join
    returncode = _CONTEXT.Process.exitcode

    def send_signal(self, number):
        if self.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _run(command, environment, inlet):
    os.setsid()
    signal_at_parent_end()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup lets children ignore it
    os.environ.clear()
    os.environ.update(environment)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(inlet.fileno(), stream.fileno())
        stream.reconfigure(line_buffering=True)
    inlet.close()
    sys.argv = [*command]
    sys.modules.pop(command[0], None)  # it runs as `__main__`
    code = 1
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except Exception:
        traceback.print_exc()
    # Finalising Python destroys DDS participants, which os._exit would leave in shared memory; the
    # destructors of libraries after it expect threads of lttng-ust, which are not in a fork.
    libc = ctypes.CDLL(None)
    libc.on_exit(ctypes.cast(libc._exit, ctypes.c_void_p), None)
    ctypes.pythonapi.Py_Exit(code)
