# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each entry of a configuration is read, or named in a warning, or listed as without effect."""

import copy
import warnings
from contextlib import closing

import numpy as np
import pytest
import yaml
from learning.env_files import ISAAC_LAB, MJLAB
from learning.walker import WALKER

from hrpsim import StateError
from hrpsim.learning import RobotCfg, TaskBatch, load_env_config
from hrpsim.learning.env_config import plain_text
from hrpsim.learning.env_left_out import WITHOUT_EFFECT

ROBOT = RobotCfg("walker", description=WALKER)


def outcome(path, data):
    """Return the task, the warnings and the error that a configuration leads to."""
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = str(load_env_config(path, ROBOT))
        except StateError as error:
            result = str(error)
    return result, [str(warning.message) for warning in told]


def leaves(data, place=()):
    """Yield the places of all values that are no mapping."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        inside = isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(one, dict) for one in value)
        )
        if inside:
            yield from leaves(value, (*place, key))
        elif value is not None and value != [None] * 3:
            yield (*place, key)


def other(value):
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return [other(value[0]), *value[1:]]
    return value + 2 if isinstance(value, int | float) else f"{value}_other"


def named(place):
    """Return a place as warnings write it."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]


@pytest.mark.parametrize("text", [ISAAC_LAB, MJLAB], ids=["Isaac Lab", "mjlab"])
def test_a_changed_entry_changes_the_task_or_is_named(tmp_path, text):
    """Law: each change shows, unless it is in a term left out by name, or without effect."""
    path, data = tmp_path / "env.yaml", yaml.safe_load(plain_text(text))
    before, count = outcome(path, data), 0
    unseen = []
    for place in leaves(data):
        changed = copy.deepcopy(data)
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = other(holder[place[-1]])
        count += 1
        if outcome(path, changed) == before:
            unseen.append(named(place))
    own = ("rewards.smoothness.weight", "scene.contact_forces.history_length")
    left = [one for one in unseen if not any(p.fullmatch(one) for p in WITHOUT_EFFECT)]
    assert count > 30 and set(left) <= set(own), left


@pytest.mark.parametrize(
    "section, entries, expected",
    [
        ("scene.robot.actuators.front", {"saturation_effort": 23.0}, "front.saturation_effort"),
        ("scene.robot.actuators.front", {"min_delay": 0, "max_delay": 4}, "front.max_delay"),
        ("scene.robot.actuators.rear", {"friction": 0.1}, "rear.friction"),
        ("scene.robot.actuators.rear", {"class_type": "mine:Net"}, "actuators.rear.class_type"),
        ("scene.robot.init_state", {"joint_vel": {".*": 1.0}}, "init_state.joint_vel"),
        ("scene", {"table": {"size": [1, 1, 1], "mass": 2.0}}, "scene.table"),
        ("scene.terrain", {"terrain_type": "generator"}, "scene.terrain.terrain_type"),
        ("actions.joint_pos", {"clip": {".*": [-1.0, 1.0]}}, "actions.joint_pos.clip"),
        ("rewards.feet_air_time.params", {"mode": 2}, "rewards.feet_air_time.params.mode"),
        ("commands.base_velocity", {"rel_forward_envs": 0.2}, "base_velocity.rel_forward_envs"),
        ("observations.policy.base_ang_vel", {"modifiers": [{"scale": 2}]}, "base_ang_vel.modif"),
    ],
)
def test_an_entry_that_is_not_simulated_is_named(tmp_path, section, entries, expected):
    data = yaml.safe_load(plain_text(ISAAC_LAB))
    before = outcome(tmp_path / "env.yaml", data)[1][-1]
    holder = data
    for key in section.split("."):
        holder = holder[key]
    holder |= entries
    after = outcome(tmp_path / "env.yaml", data)[1][-1]
    assert expected in after and expected not in before


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_efforts_stay_within_the_limits_of_the_configuration(tmp_path):
    """Law: |effort| <= effort_limit for targets far away, and some joint reaches its limit."""
    path = tmp_path / "env.yaml"
    path.write_text(ISAAC_LAB)
    with closing(TaskBatch(load_env_config(path, ROBOT), 2, threads=1)) as tasks:
        tasks.reset()
        most = np.zeros(4)
        for sign in (1.0, -1.0, 1.0):
            tasks.step(np.full((2, 4), 20.0 * sign))
            most = np.maximum(most, np.abs(tasks.state.joint_effort).max(axis=0))
    assert (most <= [6 + 1e-9, 6 + 1e-9, 9 + 1e-9, 9 + 1e-9]).all()
    assert (most > [5.9, 5.9, 8.9, 8.9]).any()


def test_the_terms_of_a_group_may_have_a_mapping_of_their_own(tmp_path):
    """Law: observations.policy.terms of newer files of mjlab is the group itself."""
    data = yaml.safe_load(plain_text(MJLAB))
    path = tmp_path / "env.yaml"
    before = outcome(path, data)
    group = data["observations"]["policy"]
    terms = {name: group.pop(name) for name in list(group) if isinstance(group[name], dict)}
    assert terms
    group["terms"] = terms
    assert outcome(path, data) == before
