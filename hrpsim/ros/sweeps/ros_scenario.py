# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A scenario whose cells run over ROS, and an engine for such cells. Needs no ROS."""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any

from hrpsim.common.errors import HrpsimError, require_packages
from hrpsim.common.typed_values import Positive, check_arguments, require_fit
from hrpsim.common.values import whole_count
from hrpsim.model.load import load_model
from hrpsim.ros.sweeps.cell_processes import (
    ABSENT,
    CONTROLLER,
    ENDED,
    NODE,
    CellPairs,
    CellRequest,
    ProcessPair,
)
from hrpsim.ros.sweeps.user_command import UserCommand
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, Scenario, SweepError
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

_END = 5.0  # time for the end of a user's controller after SIGINT [s, wall]
PATIENCE = 60.0  # [s, wall]
_NOT_DESCRIBED = ("base", "accept_nonphysical_inertia")  # not in a robot's description
_REMEDY = "source a ROS 2, or pip install 'hrpsim[ros]'"


class CommandPair(ProcessPair):
    """The simulation node, and the user's command of the present cell.

    Both processes end with the thread that made this object. The command must run until the node
    has made the last step. Exit code 0 ends the run early. Any other end is an error of the run.
    """

    programs = (NODE,)

    def run(self, request: CellRequest, stopping: Callable[[], bool]) -> dict[str, float]:
        """Return all outcomes of a cell.

        See CellPairs.run. `stopping()` returns whether to abort the cell.
        """
        folder = self._ask(request)
        self._controller = self._processes.start_module(
            CONTROLLER, "hrpsim.ros.sweeps.command_program", str(folder.path)
        )
        try:
            self._follow_node(folder, request.time_limit, stopping)
        except SweepError as error:
            log = self._end_controller(request)
            raise SweepError(f"{error} (its output: {log})" if log else str(error)) from error
        except BaseException:
            self._controller.stop(_END)
            raise
        self._end_controller(request)
        result = folder.said(NODE)["outcomes"]
        shutil.rmtree(folder.path)
        return result

    def _at_end(self, code: int) -> str:
        """Return the message to the node after the command has ended with an exit code."""
        return ENDED if code == 0 else ABSENT

    def _end_controller(self, request: CellRequest) -> str:
        """End the command, append the output to the log of the run, and return the log's path."""
        self._controller.stop(_END)
        logs = request.command.logs if request.command else None
        if logs is None:
            return ""
        path = logs / f"seed_{request.seed}.log"
        with contextlib.suppress(OSError):  # a full disk does not discard a result
            logs.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                print(f"# {json.dumps(dict(request.values), default=str)}", file=file)
                print(*self._controller.lines, sep="\n", file=file)
        return str(path)


class RosScenario(Scenario):
    """A world with a controller, in which each cell is run by a node and a controller over ROS.

    Node and controller run in lockstep, in a separate ROS domain. Results have the same bits as in
    one process. Assign `pairs` to reuse processes for further cells. Without `pairs` each run
    starts two processes.

    Args:
        scenario: the scenario to run.
        patience: longest wait for a command, and for a message of the node [s, wall].
        command: starts a user's own controller, for a scenario without a controller.

    Raises:
        SweepError: the scenario cannot run over ROS.
        HrpsimError: rclpy is missing.
    """

    runs = "over ROS"

    def __init__(
        self, scenario: Scenario, patience: float = PATIENCE, command: UserCommand | None = None
    ) -> None:
        if not isinstance(scenario, WorldScenario):
            raise SweepError(
                "only a study with a `world` can run over ROS, not one with a `function`"
            )
        if command is None and scenario.controller is None:
            raise SweepError(
                "only a study with a controller can run over ROS, but this study has none. Add "
                "`controller` to the study, or give --controller-command"
            )
        if command is not None and scenario.controller is not None:
            raise SweepError(
                f"the study names the controller {scenario.controller}, but --controller-command "
                "starts another. Leave out one of the two"
            )
        if scenario.robot is None:
            raise SweepError(f"{scenario.path}: a controller needs a robot, but the world has none")
        if len(scenario.robot_names) > 1:
            raise SweepError(
                f"{scenario.path}: only a study of one robot can run over ROS. In lockstep, a "
                f"step waits for commands of all robots: {', '.join(scenario.robot_names)}"
            )
        self.in_process, self.patience, self.command = scenario, patience, command
        self.pairs: CellPairs | None = None
        require_packages("a sweep over ROS", ("rclpy",), _REMEDY)
        model = scenario.world_of({}, 0)[1]
        try:
            load_model(model.urdf, model.base)
        except HrpsimError as error:
            raise SweepError(
                f"robot {scenario.robot!r} cannot run over ROS. A controller gets only the robot's "
                f"description, which cannot be loaded alone: {error}"
            ) from error
        self._base = model.base

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes of the scenario."""
        return self.in_process.outcomes

    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters of the scenario."""
        return self.in_process.parameters()

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise SweepError for invalid parameters, and for parameters without a ROS message."""
        for name in _NOT_DESCRIBED:
            path = f"robots.{self.in_process.robot}.{name}"
            if path in values:
                raise SweepError(
                    f"{path} cannot be varied over ROS, because the robot's description does not "
                    "have it"
                )
        self.in_process.check(values)

    def identity(self) -> Any:
        """Return the identity of the scenario and of the command.

        Without a command, runs in one process have the same identity, because results are the same.
        """
        own = {} if self.command is None else {"command": self.command.identity()}
        return self.in_process.identity() | own

    def probe(self) -> str:
        """Return the hash of sample results of the scenario."""
        return self._probe

    @cached_property
    def _probe(self) -> str:
        return self.in_process.probe()

    def run(self, values: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the outcomes of one cell."""
        request = CellRequest(
            self.in_process, dict(values), seed, self._base, self.patience, self.command
        )
        if self.pairs is not None:
            outcomes = self.pairs.run(request)
        else:
            with closing(self.new_pairs()) as pairs:
                outcomes = pairs.run(request)
        return {name: outcomes.get(name, float("nan")) for name in self.outcomes}

    def new_pairs(self) -> CellPairs:
        """Return processes for cells of this scenario, none started yet."""
        return CellPairs(None if self.command is None else CommandPair)


def over_ros(
    scenario: Scenario, patience: Positive = PATIENCE, command: UserCommand | None = None
) -> Scenario:
    """Return a copy of a scenario, or of a boundary search, whose runs use ROS.

    Args:
        scenario: the scenario to run.
        patience: longest wait for a command after the first [s, wall].
        command: starts a user's own controller. None: the controller of the scenario.
    """
    check_arguments(over_ros, locals(), SweepError)
    if isinstance(scenario, BoundaryScenario):
        search = copy.copy(scenario)
        search.scenario = RosScenario(scenario.scenario, patience, command)
        return search
    return RosScenario(scenario, patience, command)


@contextmanager
def domains(scenario: Scenario, count: int) -> Iterator[Callable[[], Executor]]:
    """Return a context manager for the `engine` of `sweep`, for cells over ROS.

    Each of the parallel cells has a pair of processes, which runs one cell after another. Cells
    that still run at the end are aborted.

    Args:
        scenario: result of `over_ros`.
        count: number of cells that run at the same time.
    """
    whole_count("count of domains", count, error=SweepError)
    search = isinstance(scenario, BoundaryScenario)
    ros = scenario.scenario if search else scenario
    require_fit("the scenario of domains", ros, RosScenario, SweepError)
    ros.pairs = ros.new_pairs()
    threads = ThreadPoolExecutor(count, thread_name_prefix="domain")
    try:
        yield lambda: threads
    finally:
        ros.pairs.close()  # before the threads end, because the processes end with them
        threads.shutdown(wait=True, cancel_futures=True)
        ros.pairs = None
