# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A file with a world, a controller and pushes as a scenario."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import canonicalize  # without comments: xacro writes paths there

from hrpsim.common.errors import require_name, require_names, unknown_name
from hrpsim.common.schema import integer, numeric, scalar
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.framework.controller import Controller
from hrpsim.model.model import Model
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, Scenario, SweepError
from hrpsim.sweeps.worlds import world_paths, world_run
from hrpsim.sweeps.worlds.controllers import DisturbedController, controller_class
from hrpsim.sweeps.worlds.world_source import source_of
from hrpsim.world.world import World

_WORLDS_KEPT = 8  # largest number of stored worlds in a process
_DELAYS = {"sensing": 0, "command": 0}  # [control periods]
_NOISE = {
    "gyro": "rad/s",
    "gyro_bias": "rad/s",
    "accelerometer": "m/s^2",
    "accelerometer_bias": "m/s^2",
    "force": "N",
    "torque": "Nm",
}
_PROBE_STEPS = 40


_bases: OrderedDict[str, world_run.BaseWorld] = OrderedDict()


class WorldScenario(Scenario):
    """A file with a world, a controller and pushes, simulated for `duration` [s].

    The file has any format of `load_world`. Only the entries of a world file may be varied. The
    controller's model is the robot of the file with the values of the run, but without the factors
    of masses, gains and joints.

    Args:
        world: the file.
        duration: duration of a run [s].
        robot: the controlled and measured robot. The default is the only robot.
        controller: "walk", "module:Class" or "file.py:Class". None: the robot holds its commands.
        parameters: parameters of the controller.
        pushes: mappings of `link` (or `entity` of a free body), `impulse` [Ns], `heading` [rad],
            `begin` and `duration` [s].
        sensors: standard deviations of noise.
        delay: `sensing` and `command` in control periods.
        terrain: `slope`, `slope_heading` [rad], `roughness` [m].
        measured: names of the outcomes to store, by default all.
        period: time between measurements without a controller [s].
    """

    def __init__(  # many parameters: keywords, passed by name
        self,
        world: str | Path,
        *,
        duration: float,
        robot: str | None = None,
        controller: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        pushes: Sequence[Mapping[str, Any]] = (),
        sensors: Mapping[str, float] | None = None,
        delay: Mapping[str, int] | None = None,
        terrain: Mapping[str, float] | None = None,
        measured: Sequence[str] | None = None,
        period: float = 0.005,
    ) -> None:
        self.path = Path(world)
        self._source = source_of(world)
        self.data = self._source.data
        self.duration, self.period = float(duration), float(period)
        self.robot = self._chosen_robot(robot, controller)
        self.controller, self.controller_parameters = controller, dict(parameters or {})
        self._settings = {
            **_named("sensors", sensors, _NOISE),
            **_named("delay", delay, _DELAYS),
            **_named("terrain", terrain, ("slope", "slope_heading", "roughness")),
        }
        self.pushes = [self._push(k, push) for k, push in enumerate(pushes)]
        self._check_settings()
        self._measured = self._chosen(measured)

    def _chosen_robot(self, robot: str | None, controller: str | None) -> str | None:
        """Return the robot that is observed, and controlled if there is a controller."""
        names = self.robot_names
        if robot is not None:
            require_name("robot", robot, names, SweepError, where=self.path)
        elif len(names) == 1:
            robot = names[0]
        if controller is not None:
            if robot is None:
                listed = ", ".join(names) or "none"
                raise SweepError(
                    f"{self.path}: has several robots. Name the controlled one: {listed}"
                )
            controller_class(controller)
        return robot

    def _check_settings(self) -> None:
        """Raise SweepError for unknown settings and parameters, and for values out of range."""
        own = {f"controller.{name}": value for name, value in self.controller_parameters.items()}
        for path, value in {**self._settings, **own}.items():
            if path not in self._known:
                raise SweepError(self._unknown_setting(path))
            if mistake := self._known[path].mistake(value):
                raise SweepError(f"{path}: {mistake}")

    def _unknown_setting(self, path: str) -> str:
        section = path.partition(".")[0]
        known = [other for other in self._known if other.partition(".")[0] == section]
        if known:
            return unknown_name("setting", path, known, limit=30)
        needed = "ground" if section == "terrain" else "controller"
        return f"{section}: has no effect without a {needed}"

    def _push(self, k: int, given: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise SweepError(f"pushes[{k}]: must be a mapping, got {given!r}")
        known = ("entity", "link", *world_run.PUSH)
        require_names("entry", given, known, SweepError, where=f"pushes[{k}]")
        push = {"entity": self.robot, "link": None, **world_run.PUSH_DEFAULTS, **given}
        for name, parameter in world_run.PUSH.items():
            mistake = parameter.mistake(push[name])
            if mistake:
                raise SweepError(f"pushes[{k}].{name}: {mistake}")
        if push["entity"] is None:
            raise SweepError(f"pushes[{k}]: name the entity that is pushed")
        return push

    @cached_property
    def robot_names(self) -> list[str]:
        """Names of the robots in the world. An entry without a name has the description's name."""
        robots = self.data.get("robots") or ()
        if all("name" in entry and "copies" not in entry for entry in robots):
            return [str(entry["name"]) for entry in robots]
        return list(self._source.build(self.data).robots)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data that is recomputed."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_live", "_known", "_sound")}

    # -- parameters ------------------------------------------------------------------------------

    def parameters(self) -> dict[str, Parameter]:
        """Return all parameters that may be varied, by path."""
        return self._known | world_paths.parts_parameters(self._base({}).world)

    @cached_property
    def _keys_of(self) -> dict[str, tuple[Any, ...]]:
        return self._source.paths()

    @cached_property
    def _pairs(self) -> dict[str, Mapping[str, Any]]:
        """The friction entries of the file, by the label in paths."""
        labels = {}
        for path, keys in self._keys_of.items():
            if keys[0] == "friction" and keys[-1] == "static":
                labels[path.split(".")[1]] = self.data["friction"][keys[1]]
        return labels

    @cached_property
    def _live(self) -> dict[str, Parameter]:
        return world_paths.live_parameters(self.data, self._pairs, self.robot_names)

    @cached_property
    def _known(self) -> dict[str, Parameter]:
        known = {path: Parameter(scalar) for path in self._keys_of} | self._live
        for k in range(len(self.pushes)):
            known.update(
                {f"pushes.{k}.{name}": parameter for name, parameter in world_run.PUSH.items()}
            )
        known["duration"] = Parameter(numeric(POSITIVE), "s")
        if self.controller is not None:
            kinds = controller_class(self.controller).parameter_kinds
            names = self.controller_parameters if kinds is None else kinds
            for name in names:
                known[f"controller.{name}"] = Parameter(scalar if kinds is None else kinds[name])
            for name, unit in _NOISE.items():
                known[f"sensors.{name}"] = Parameter(numeric(NOT_NEGATIVE), unit)
            for name in _DELAYS:
                known[f"delay.{name}"] = Parameter(integer(0, 1000), "control periods")
        return known

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise HrpsimError for values that the world file or the materials cannot have."""
        world_paths.check_friction(self._pairs, values)
        if not self._sound:
            self._check_pushes()
            self._sound.add("")
        structural = self._structural(values)
        key = json.dumps(structural, sort_keys=True)
        if structural and key not in self._sound:
            self._changed_data(structural)
            self._sound.add(key)

    @cached_property
    def _sound(self) -> set[str]:
        """The structural values that `check` has accepted. The key "" is for the pushes."""
        return set()

    def _check_pushes(self) -> None:
        """Raise HrpsimError for links and entities that the world does not have."""
        world = self._base({}).world
        for k, push in enumerate(self.pushes):
            entity, link = push["entity"], push["link"]
            require_name("entity", entity, world.entities, SweepError, where=f"pushes[{k}]")
            links = world.robots[entity].model.link_names if entity in world.robots else ()
            if link is not None:
                require_name("link", link, links, SweepError, where=f"pushes[{k}]")

    def _structural(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that require building the world again."""
        settings = {**self._settings, **values}
        result = {k: v for k, v in values.items() if k in self._keys_of and k not in self._live}
        normal = world_paths.slope_normal(settings)
        if normal is not None:
            result["terrain.normal"] = normal
        return result

    def _changed_data(self, structural: Mapping[str, Any]) -> Any:
        values = {k: v for k, v in structural.items() if k != "terrain.normal"}
        data = world_paths.changed(self.data, self._keys_of, values)
        if "terrain.normal" in structural:
            ground = data["ground"] if isinstance(data["ground"], dict) else {}
            data["ground"] = {**ground, "normal": structural["terrain.normal"]}
        return data

    # -- outcomes --------------------------------------------------------------------------------

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The measured outcomes."""
        return self._measured

    def _chosen(self, names: Sequence[str] | None) -> dict[str, Outcome]:
        possible = dict(world_run.WORLD_OUTCOMES)
        if self.robot is not None:
            possible.update(world_run.ROBOT_OUTCOMES)
        if self.controller is not None:
            possible.update(world_run.WALK_OUTCOMES)
        entities = [str(e["name"]) for e in (self.data.get("bodies") or ()) if "name" in e]
        for entity in entities:
            possible.update(
                {f"{entity}.{k}": outcome for k, outcome in world_run.ENTITY_OUTCOMES.items()}
            )
        if names is None:
            return possible
        require_names("outcome", names, possible, SweepError, limit=30)
        return {name: possible[name] for name in names}

    # -- running ---------------------------------------------------------------------------------

    def start(self, values: Mapping[str, Any], seed: int) -> world_run.WorldRun:
        """Return a new run in a new world."""
        return self._start(*self.world_of(values, seed), values, seed)

    def world_of(self, values: Mapping[str, Any], seed: int) -> tuple[World, Model | None]:
        """Return the initial world of a run, and the controller's model of the robot."""
        base = self._base(self._structural(values))
        world = base.world.copy()
        world_paths.change_world(world, self._pairs, {**self._settings, **values}, seed)
        return world, base.model

    def _start(
        self, world: World, model: Model | None, values: Mapping[str, Any], seed: int
    ) -> world_run.WorldRun:
        controller, parameters = self.controller_of(values, seed)
        return world_run.WorldRun(
            world,
            duration=self.duration_of(values),
            pushes=self.pushes_of(world, values),
            robot=self.robot,
            controller=controller,
            parameters=parameters,
            description=model,
            period=self.period,
            measured=self._measured,
        )

    def duration_of(self, values: Mapping[str, Any]) -> float:
        """Return the planned duration of a run [s]."""
        return values.get("duration", self.duration)

    def pushes_of(self, world: World, values: Mapping[str, Any]) -> list[world_run.Push]:
        """Return the pushes of a run."""
        pushes = []
        for k, push in enumerate(self.pushes):
            own = {name: values.get(f"pushes.{k}.{name}", push[name]) for name in world_run.PUSH}
            link = push["link"]
            if link is None and push["entity"] in world.robots:
                link = world.robots[push["entity"]].model.base_link
            pushes.append(world_run.Push(push["entity"], link, **own))
        return pushes

    def controller_of(
        self, values: Mapping[str, Any], seed: int
    ) -> tuple[Controller | None, dict[str, Any]]:
        """Return the controller of a run, not yet configured, and the parameters."""
        if self.controller is None:
            return None, {}
        parameters = dict(self.controller_parameters)
        for path, value in values.items():
            if path.startswith("controller."):
                parameters[path.partition(".")[2]] = value
        controller = controller_class(self.controller)()
        return self._disturbed(controller, {**self._settings, **values}, seed), parameters

    def _disturbed(self, controller, settings: Mapping[str, Any], seed: int):
        levels = {name: float(settings.get(f"sensors.{name}", 0.0)) for name in _NOISE}
        delays = [int(settings.get(f"delay.{name}", 0)) for name in _DELAYS]
        noise = {"seed": seed, **levels} if any(levels.values()) else {}
        if not noise and not any(delays):
            return controller
        return DisturbedController(controller, noise, *delays)

    def run(self, values: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the outcomes of one run."""
        base = self._base(self._structural(values))
        with base.lent() as world:
            world_paths.change_world(world, self._pairs, {**self._settings, **values}, seed)
            outcomes = self._start(world, base.model, values, seed).run()
        return {name: outcomes.get(name, float("nan")) for name in self._measured}

    def _base(self, structural: Mapping[str, Any]) -> world_run.BaseWorld:
        key = json.dumps([str(self.path), self.data, self.robot, dict(structural)], sort_keys=True)
        if key in _bases:
            _bases.move_to_end(key)
            return _bases[key]
        world = self._source.build(self._changed_data(structural) if structural else self.data)
        world.scene  # noqa: B018  made once, for all copies
        model = None if self.robot is None else world.robots[self.robot].model
        _bases[key] = base = world_run.BaseWorld(world, model)
        while len(_bases) > _WORLDS_KEPT:
            _bases.popitem(last=False)
        return base

    # -- identity --------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any]:
        """Return the world file's data, the robots as read, the controller and the settings."""
        world = self._base({}).world
        source, called = "", self.controller
        if self.controller is not None:
            called = Path(self.controller).name  # without the folder: a study may be moved
            module = inspect.getmodule(controller_class(self.controller))
            text = inspect.getsource(module or controller_class(self.controller))
            source = hashlib.sha256(text.encode()).hexdigest()
        return {
            "world": self.data,
            "robots": {
                name: hashlib.sha256(canonicalize(robot.model.urdf).encode()).hexdigest()
                for name, robot in world.robots.items()
            },
            "controller": [called, self.controller_parameters, source],
            "robot": self.robot,
            "pushes": self.pushes,
            "settings": self._settings,
            "duration": self.duration,
            "period": self.period,
            "measured": list(self._measured),
        }

    def probe(self) -> str:
        """Return a hash of the world's state after some steps, with the file's values."""
        world = self._base({}).world.copy()
        world.step(_PROBE_STEPS)
        state = hashlib.sha256()
        for entity in world.entities.values():
            state.update(entity.q.tobytes() + entity.v.tobytes())
        return state.hexdigest()


def _named(section: str, given: Mapping[str, Any] | None, known) -> dict[str, Any]:
    require_names("entry", given or {}, known, SweepError, where=section)
    return {f"{section}.{name}": value for name, value in (given or {}).items()}
