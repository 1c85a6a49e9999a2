# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy in a study's world as a scenario. Several runs evaluate the network in one batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.policy_description import PolicyDescription
from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question
from hrpsim.common.errors import ModelWarning
from hrpsim.common.foreign.file_bytes import file_digest
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import ControllerError
from hrpsim.rollout.measures import COURSES, OUTCOMES, RolloutMeasures
from hrpsim.rollout.shared_policy import SharedPolicy, answers, described
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, Scenario
from hrpsim.sweeps.worlds.world_run import ROBOT_OUTCOMES, WORLD_OUTCOMES, Measures, ticks_in
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.perturbed_start import perturbed

MEASURED = (*WORLD_OUTCOMES, *ROBOT_OUTCOMES)  # outcomes of the study's scenario
POLICY = "hrpsim.rollout.shared_policy:SharedPolicy"
_VELOCITY_SPREAD = 2.5  # ratio of the base's initial velocity spread to the joints' spread [1/s]
_START = 1  # index of the random generator of the start, 0 is of the noise


class RolloutScenario(Scenario):
    """A policy in the worlds of a study.

    Runs end at a fall. The initial joint positions, and the initial velocity of a free base, are
    perturbed at random by the seed of the run.

    Args:
        worlds: the study's scenario, which measures `MEASURED`, with `POLICY` as the controller.
        spread: standard deviation of the initial joint positions [rad or m]. The deviation of the
            base velocity is proportional to it.
    """

    def __init__(self, worlds: WorldScenario, spread: float) -> None:
        self.worlds, self.spread = worlds, spread
        policy = self.policy()
        self.samples = max(ticks_in(worlds.duration, policy.seconds), 1)
        courses = {name: Outcome(o.unit, o.about, (self.samples,)) for name, o in COURSES.items()}
        self._outcomes = {**worlds.outcomes, **OUTCOMES, **courses}

    def policy(self) -> PolicyDescription:
        """Return the description of the policy."""
        return described(Path(self.worlds.controller_parameters["description"]))

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes of the worlds and of the policy, and the time series."""
        return self._outcomes

    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters of the worlds."""
        return self.worlds.parameters()

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise HrpsimError for values that contradict each other."""
        self.worlds.check(values)

    def identity(self) -> dict[str, Any]:
        """Return the identity of the runs: worlds, policy files and spread."""
        policy = self.policy()
        files = [Path(policy.source), policy.observation.network]
        if policy.encoder is not None:
            files.append(policy.encoder.network)
        known = self.worlds.identity()
        known["controller"] = [POLICY, *map(_digest, files)]
        return {**known, "spread": self.spread}

    def probe(self) -> str:
        """Return the hash of the worlds."""
        return self.worlds.probe()

    def run(self, values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
        """Return the outcomes of one run."""
        (result,) = self.run_together([(values, seed)])
        if isinstance(result, Exception):
            raise result
        return result

    def run_together(
        self, runs: Sequence[tuple[Mapping[str, Any], int]]
    ) -> list[Mapping[str, Any] | Exception]:
        """Return the outcomes or the error of each run.

        The network is evaluated for all runs in one batch.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the same in each world
            episodes = [_Episode(self, values, seed) for values, seed in runs]
            while any(episode.goes_on for episode in episodes):
                _tick([episode for episode in episodes if episode.goes_on])
            return [episode.finish() for episode in episodes]


def _digest(path: Path) -> str:
    return file_digest(path, ControllerError, "NETWORK_SIZE").hex()


def _tick(episodes: Sequence[_Episode]) -> None:
    """Advance episodes by one control period.

    Each network is evaluated for several episodes at once.
    """
    pending = [
        (episode, question) for episode in episodes if (question := episode.question()) is not None
    ]
    if pending:
        networks: list[PolicyNetwork] = [episode.network for episode, _ in pending]
        for (episode, _), answer in zip(
            pending, answers(networks, [question for _, question in pending])
        ):
            episode.take(answer)
    for episode in episodes:
        episode.advance()


class _Episode:
    """One run of a policy. An error ends only this run."""

    def __init__(self, scenario: RolloutScenario, values: Mapping[str, Any], seed: int) -> None:
        self._error: Exception | None = None
        self._loop: ControlLoop | None = None
        self._try(lambda: self._begin(scenario, values, seed))

    def _begin(self, scenario: RolloutScenario, values: Mapping[str, Any], seed: int) -> None:
        worlds = scenario.worlds
        self._world, model = worlds.world_of(values, seed)
        self._robot = robot = self._world.robots[worlds.robot]
        controller, parameters = worlds.controller_of(values, seed)
        self._policy: SharedPolicy = getattr(controller, "controller", controller)
        self._prepare_robot(scenario, seed)
        self._loop = ControlLoop(robot, controller, parameters, model=model)
        self._period = self._policy.period
        self._pushes = worlds.pushes_of(self._world, values)
        self._ticks = ticks_in(worlds.duration_of(values), self._period)
        self._measures = Measures(self._world, robot.name, self._period)
        decimation = self._policy.description.decimation
        self._more = RolloutMeasures(robot, self._period, decimation, scenario.samples)
        self.network = self._policy.network
        self._outcome_names = tuple(scenario.outcomes)

    def _prepare_robot(self, scenario: RolloutScenario, seed: int) -> None:
        policy, robot = scenario.policy(), self._robot
        if policy.armature is not None:
            robot.set_joint_properties(policy.joints, rotor_inertia=policy.armature)
        if scenario.spread:
            chance = np.random.default_rng([seed, _START])
            spreads = scenario.spread, _VELOCITY_SPREAD * scenario.spread
            robot.q, robot.v = perturbed(self._world, robot, chance, *spreads)
            robot.keep_as_initial()

    @property
    def goes_on(self) -> bool:
        """Whether the run continues. A run ends with its time, at a fall or after an error."""
        if self._error is not None:
            return False
        return self._measures.ticks < self._ticks and not self._measures.fell

    def question(self) -> Question | None:
        """Return the input of the network at this tick, or None if no evaluation is due."""
        return self._try(self._sensed)

    def _sensed(self) -> Question | None:
        assert self._loop is not None
        self._state = self._loop.sense()
        return self._policy.prepare(self._state)

    def take(self, answer: Answer) -> None:
        """Pass the output of the network to the policy."""
        self._try(lambda: self._policy.take(answer))

    def advance(self) -> None:
        """Command the robot, step the world by one period and measure."""
        if self._error is None:
            self._try(self._step)

    def _step(self) -> None:
        assert self._loop is not None
        self._loop.act(self._state)
        for push in self._pushes:
            push.apply(self._world, self._measures.ticks * self._period, self._period)
        self._world.step(self._loop.steps_per_period)
        self._measures.tick()
        self._more.add(self._policy.velocity)

    def finish(self) -> Mapping[str, Any] | Exception:
        """Stop the controller. Return the outcomes or the error."""
        if self._loop is not None:
            self._loop.stop()
        if self._error is not None:
            return self._error
        outcomes = {**self._measures.outcomes(), **self._more.outcomes()}
        return {name: outcomes[name] for name in self._outcome_names}

    def _try(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except Exception as error:  # any error, because the other runs do not depend on this run
            self._error = error
            return None
