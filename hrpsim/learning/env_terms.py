# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert terms of Isaac Lab's and mjlab's configurations to hrpsim's terms, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hrpsim.common.errors import StateError, unknown_name
from hrpsim.learning.configs import (
    CurriculumTermCfg,
    EventTermCfg,
    GaussianNoiseCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
    UniformNoiseCfg,
)
from hrpsim.learning.section import Section
from hrpsim.learning.terms.curriculum import CURRICULA
from hrpsim.learning.terms.events import EVENTS
from hrpsim.learning.terms.observations import OBSERVATIONS
from hrpsim.learning.terms.rewards import REWARDS
from hrpsim.learning.terms.terminations import TERMINATIONS

_ENTITIES = "asset_cfg", "sensor_cfg"


class OwnTermError(StateError):
    """Raised if only the other simulator has a term. The message is the function's name."""


def observation_group(group: Section, order: Mapping[str, Any]) -> ObservationGroupCfg:
    """Convert a group of observations.

    Args:
        group: the section of the group.
        order: the policy's joint order, for terms that read all joints.

    Raises:
        StateError: a term is unknown. A policy needs all of its observations.
    """
    terms = {}
    own = group.section("terms") if _is_nested(group) else group
    for name, term in own.sections():
        try:
            terms[name] = _observation(term, order)
        except OwnTermError as error:
            known = unknown_name("observation", str(error), OBSERVATIONS)
            raise StateError(f"{term.where}: {known}") from None
    length = group.get("history_length")
    return ObservationGroupCfg(
        terms,
        enable_corruption=bool(group.get("enable_corruption")),
        history_length=None if length is None else int(group.number("history_length")),
    )


def _is_nested(group: Section) -> bool:
    """Return whether the terms are below the key `terms`, as new versions of mjlab write."""
    return group.is_section("terms") and "func" not in group.section("terms")


def _observation(one: Section, order: Mapping[str, Any]) -> ObservationTermCfg:
    func, params = _function(one, OBSERVATIONS)
    takes = inspect.signature(OBSERVATIONS[func]).parameters
    if "preserve_order" in takes and "joint_names" not in params:
        params |= order
    scale = one.get("scale")
    if isinstance(scale, list):
        scale = one.numbers("scale", len(scale))
    elif scale is not None:
        scale = one.number("scale")
    return ObservationTermCfg(
        func,
        params,
        noise=_noise(one),
        clip=None if one.get("clip") is None else one.pair("clip"),
        scale=scale,
        history_length=int(one.number("history_length", 0)),
    )


def _noise(one: Section) -> UniformNoiseCfg | GaussianNoiseCfg | None:
    if not one.has("noise"):
        return None
    noise = one.section("noise")
    if "n_min" in noise:
        return UniformNoiseCfg(noise.number("n_min"), noise.number("n_max"))
    if "std" in noise:
        return GaussianNoiseCfg(noise.number("mean", 0.0), noise.number("std"))
    raise StateError(
        f"{noise.where}: must be uniform noise (n_min, n_max) or normal noise (mean, std)"
    )


def reward(one: Section) -> RewardTermCfg:
    """Convert an entry to a reward term. Raises OwnTermError if hrpsim lacks the function."""
    func, params = _function(one, REWARDS)
    return RewardTermCfg(func, one.number("weight"), params)


def termination(one: Section) -> TerminationTermCfg:
    """Convert an entry to a termination. Raises OwnTermError if hrpsim lacks the function."""
    func, params = _function(one, TERMINATIONS)
    return TerminationTermCfg(func, params, bool(one.get("time_out")))


def event(one: Section) -> EventTermCfg:
    """Convert an entry to an event. Raises OwnTermError if hrpsim lacks the function."""
    func, params = _function(one, EVENTS, 2)
    interval = None if one.get("interval_range_s") is None else one.pair("interval_range_s")
    return EventTermCfg(func, one.text("mode"), interval, params)


def curriculum(one: Section) -> CurriculumTermCfg:
    """Convert an entry to a curriculum term. Raises OwnTermError if hrpsim lacks the function."""
    func, params = _function(one, CURRICULA, 2)
    return CurriculumTermCfg(func, params)


def _function(
    one: Section, known: Mapping[str, Callable[..., Any]], leading: int = 1
) -> tuple[str, dict[str, Any]]:
    """Return a term's function name, and the arguments that hrpsim's function accepts.

    Raises OwnTermError if the name is unknown, or if an argument without a default is missing.
    """
    func = one.text("func").rpartition(":")[2].rpartition(".")[2]
    if func not in known:
        raise OwnTermError(func)
    section = one.section("params", {})
    takes = dict(list(inspect.signature(known[func]).parameters.items())[leading:])
    params = {key: _value(section.whole(key)) for key in section if key in takes}
    for key in _ENTITIES:
        if section.has(key):
            params |= _entity(section.section(key), takes)
    empty = inspect.Parameter.empty
    missing = [key for key, one in takes.items() if one.default is empty and key not in params]
    if missing:
        raise OwnTermError(f"{func} without {missing[0]}")
    return func, params


def _entity(entity: Section, takes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the joints, links or sensor of a term as arguments that hrpsim's function takes."""
    result: dict[str, Any] = {}
    for key, argument in (("joint_names", "joint_names"), ("body_names", "link_names")):
        if argument in takes and entity.get(key) is not None:
            result[argument] = entity.names(key)
    if "joint_names" in result and "preserve_order" in takes and entity.get("preserve_order"):
        result["preserve_order"] = True
    if "sensor" in takes:
        result["sensor"] = entity.text("name")
    if "link" in takes and entity.get("body_names") is not None:
        result["link"] = entity.names("body_names")[0]
    return result


def _value(given: Any) -> Any:
    """Return an argument with lists converted to tuples."""
    if isinstance(given, list):
        return tuple(map(_value, given))
    if isinstance(given, Mapping):
        return {key: _value(value) for key, value in given.items()}
    return given
