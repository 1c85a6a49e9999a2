# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run a policy in many worlds: `hrpsim rollout` and the same in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hrpsim.common.resources import user_path
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import whole_count
from hrpsim.rollout.rollout_scenario import MEASURED, POLICY, RolloutScenario
from hrpsim.sweeps.framework.design import Design, Product
from hrpsim.sweeps.framework.scenario import SweepError
from hrpsim.sweeps.study_file import read_study
from hrpsim.sweeps.sweep import SweepProgress, sweep
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

_TOGETHER = 32  # number of runs in one batch of a network
_DURATION = 10.0  # default duration [s]
_SPREAD = 0.02  # default spread of the joints at the start [rad or m]


@dataclass(frozen=True)
class _Plan:
    """Scenario, design and seed of a rollout."""

    scenario: RolloutScenario
    design: Design | Product
    seed: int
    title: str


def rollout(  # many parameters: keywords, passed by name
    policy: str | Path,
    world: str | Path | None = None,
    *,
    study: str | Path | None = None,
    worlds: int = 64,
    robot: str | None = None,
    command: tuple[float, float, float] | None = None,
    duration: float | None = None,
    spread: float = _SPREAD,
    seed: int | None = None,
    processes: int | None = None,
    store: str | Path | None = None,
    tell: Callable[[SweepProgress], Any] | None = None,
) -> Any:
    """Run a policy in many worlds, and return the outcomes as an xarray.Dataset.

    The same arguments give the same bits with any number of processes.

    Args:
        policy: description of the policy.
        world: file with the robot in its initial state, in any format of `load_world`. The default
            is the world of the study.
        study: study file with the parameters to vary, pushes, noise and delays. A random method
            draws `worlds` points. The runs of another method are repeated in order. A controller in
            the study is not used.
        worlds: number of runs.
        robot: name of the robot, if the world has several.
        command: velocities x, y [m/s] and yaw [rad/s] that the policy is given. The default is
            zero, or the entries of the study.
        duration: duration of a run [s].
        spread: standard deviation of the initial joint positions [rad or m].
        seed: seed of all random numbers. The default is the seed of the study, or 0.
        processes: number of processes. The default is one for each processor.
        store: folder of the results, from which an interrupted call continues.
        tell: function that is called with the progress.

    Raises:
        HrpsimError: for files that are inconsistent with each other, before any run starts.
    """
    check_arguments(rollout, locals(), SweepError)
    whole_count("worlds", worlds, error=SweepError)
    settings: dict[str, Any] = {"world": world, "robot": robot, "duration": duration}
    settings = {key: value for key, value in settings.items() if value is not None}
    parameters: dict[str, Any] = {"description": str(user_path(policy).absolute())}
    if command is not None:
        parameters |= dict(zip(("velocity_x", "velocity_y", "velocity_yaw"), map(float, command)))
    plan = _planned(study, settings, parameters, spread)
    seed = plan.seed if seed is None else seed
    return sweep(
        plan.scenario,
        _of_count(plan.design, seed, worlds),
        store=store,
        seed=seed,
        title=plan.title,
        processes=processes,
        per_task=_TOGETHER,
        tell=tell,
    )


def _planned(
    study: str | Path | None, given: dict[str, Any], parameters: dict[str, Any], spread: float
) -> _Plan:
    title = f"rollout of {Path(parameters['description']).name}"
    if study is None:
        if "world" not in given:
            raise SweepError("a rollout needs a world: --world FILE, or a study that names one")
        scenario = WorldScenario(
            **{"duration": _DURATION, **given},
            controller=POLICY,
            parameters=parameters,
            measured=MEASURED,
        )
        return _Plan(RolloutScenario(scenario, spread), Design(), 0, title)
    controller = {"plugin": POLICY, "parameters": parameters}
    if "world" in given:
        given["world"] = str(user_path(given["world"]).absolute())
    described = read_study(study, {**given, "controller": controller, "measured": list(MEASURED)})
    if not isinstance(described.scenario, WorldScenario):
        raise SweepError(f"{study}: a rollout needs a study of a world, without `find`")
    return _Plan(
        RolloutScenario(described.scenario, spread), described.design, described.seed, title
    )


def _of_count(design: Design | Product, seed: int, count: int) -> Design:
    """Return a design with `count` runs: random points, or the points of the design in order."""
    if isinstance(design, Design) and design.count is not None:
        return replace(design, count=count, repeat=1)
    columns = design.columns(seed)
    columns.pop("", None)
    if not columns:
        return Design(repeat=count)
    rows = [
        {name: column[k % len(column)] for name, column in columns.items()} for k in range(count)
    ]
    return Design(method="table", rows=rows)
