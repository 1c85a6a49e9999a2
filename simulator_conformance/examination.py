# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The examination: the laws in their order, and the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator_conformance import control_checks, entity_checks, world_checks
from simulator_conformance.client import Simulator, Unanswered, interface
from simulator_conformance.errors import ConformanceError
from simulator_conformance.session import (
    FAILED,
    PASSED,
    SKIPPED,
    UNSUPPORTED,
    Broken,
    Check,
    NotTried,
    Options,
    Session,
)

# (feature, or "" for a mandatory one; the law); laws come after those that they depend on.
_LAWS: list[tuple[str, Check]] = [
    ("", control_checks.reports_known_features),
    ("SIMULATION_STATE_GETTING", control_checks.reports_its_state),
    ("SIMULATION_STATE_PAUSE", control_checks.pauses),
    ("SIMULATION_STATE_SETTING", control_checks.plays),
    ("SIMULATION_STATE_SETTING", control_checks.stops),
    ("SIMULATION_STATE_SETTING", control_checks.knows_no_other_state),
    ("STEP_SIMULATION_SINGLE", control_checks.makes_one_step),
    ("STEP_SIMULATION_MULTIPLE", control_checks.makes_steps),
    ("STEP_SIMULATION_SINGLE", control_checks.makes_no_step_while_playing),
    ("STEP_SIMULATION_ACTION", control_checks.acts_in_steps),
    ("STEP_SIMULATION_ACTION", control_checks.acts_not_while_playing),
    ("SPAWNING", entity_checks.spawns),
    ("SPAWNING", entity_checks.refuses_a_taken_name),
    ("SPAWNING", entity_checks.refuses_no_resource),
    ("SPAWNING_RESOURCE_STRING", entity_checks.refuses_what_is_no_model),
    ("SPAWNING", entity_checks.refuses_an_invalid_pose),
    ("SPAWNING", entity_checks.stands_where_it_was_put),
    ("SPAWNING_ENTITIES", entity_checks.spawns_several),
    ("", entity_checks.finds_by_name),
    ("ENTITY_CATEGORIES", entity_checks.finds_by_category),
    ("ENTITY_TAGS", entity_checks.finds_by_tags),
    ("ENTITY_BOUNDS", entity_checks.finds_in_a_sphere),
    ("ENTITY_BOUNDS_BOX", entity_checks.finds_in_a_box),
    ("ENTITY_BOUNDS_CONVEX", entity_checks.finds_in_a_hull),
    ("ENTITY_STATE_GETTING", entity_checks.reports_states),
    ("ENTITY_STATE_GETTING", entity_checks.reports_all_states),
    ("ENTITY_STATE_SETTING", entity_checks.sets_a_pose),
    ("ENTITY_STATE_SETTING", entity_checks.sets_only_what_is_flagged),
    ("ENTITY_STATE_SETTING", entity_checks.refuses_states),
    ("ENTITY_INFO_GETTING", entity_checks.reports_infos),
    ("ENTITY_INFO_SETTING", entity_checks.sets_infos),
    ("ENTITY_BOUNDS", entity_checks.reports_bounds),
    ("DELETING", entity_checks.deletes),
    ("SPAWNABLES", world_checks.reports_spawnables),
    ("NAMED_POSES", world_checks.reports_poses),
    ("POSE_BOUNDS", world_checks.reports_pose_bounds),
    ("SIMULATION_RESET_STATE", control_checks.resets_state),
    ("SIMULATION_RESET_SPAWNED", control_checks.resets_spawned),
    ("SIMULATION_RESET_TIME", control_checks.resets_time),
    ("SIMULATION_RESET", control_checks.refuses_unclaimed_scopes),
    ("SIMULATION_RESET", control_checks.resets_all),
    ("AVAILABLE_WORLDS", world_checks.reports_worlds),
    ("WORLD_TAGS", world_checks.finds_worlds_by_tags),
    ("WORLD_INFO_GETTING", world_checks.reports_the_world),
    ("WORLD_LOADING", world_checks.refuses_no_world),
    ("WORLD_RESOURCE_STRING", world_checks.refuses_what_is_no_world),
    ("WORLD_LOADING", world_checks.loads),
    ("WORLD_UNLOADING", world_checks.unloads),
]
_LAST = ("SIMULATION_STATE_SETTING", control_checks.quits)


class Row(NamedTuple):
    """The result of one law."""

    interface: str  # the service or action
    feature: str  # that the simulator must claim; "" for a mandatory one
    law: str
    codes: str  # that the interface answered, each once
    verdict: str  # passed, failed, unsupported (not claimed), skipped (could not be tried)
    detail: str = ""


def examine(
    simulator: Simulator, options: Options, report: Callable[[Row], None], *, quits: bool = False
) -> list[Row]:
    """Return a Row for each law of the standard; `report` receives each at once.

    It pauses, plays, stops, resets, spawns, deletes, loads and unloads: the simulated state is
    lost. With `quits` the simulator is requested to quit at the end.
    """
    session = Session(simulator, options)
    rows = []
    for row in _rows(session, [*_LAWS, *([_LAST] if quits else [])]):
        rows.append(row)
        report(row)
    return rows


def _rows(session: Session, laws: list[tuple[str, Check]]) -> Iterator[Row]:
    answer = session.simulator.call("GetSimulatorFeatures")
    session.features = set(answer.features.features)
    session.formats = list(answer.features.spawn_formats)
    for feature, check in laws:
        first_paragraph = (check.__doc__ or "").split("\n\n")[0]
        kind, law = " ".join(first_paragraph.split()).rstrip(".").split(": ", 1)
        row = Row(kind, feature, law, "", UNSUPPORTED)
        if feature and not session.claims(feature):
            yield row
            continue
        session.about, session.codes = kind, []
        verdict, detail = _outcome(session, kind, check)
        yield row._replace(codes=", ".join(session.codes), verdict=verdict, detail=detail)


def _outcome(session: Session, kind: str, check: Check) -> tuple[str, str]:
    """Return the verdict of one law, and the reason."""
    try:
        if kind != "SimulateSteps":
            interface(kind)
    except ConformanceError as error:
        return SKIPPED, str(error)
    if not session.simulator.offers(kind):
        return FAILED, f"claimed, but no {kind} is offered"
    try:
        check(session)
        return PASSED, ""
    except NotTried as reason:
        return SKIPPED, str(reason)
    except (Broken, Unanswered) as reason:
        return FAILED, str(reason)
    except KeyError as missing:  # a service that a claimed feature needs
        return FAILED, f"claimed, but no {missing.args[0]} is offered"
    finally:
        _tidy(session, check)


def _tidy(session: Session, check: Check) -> None:
    if check is control_checks.quits:
        return
    try:
        session.clear()
    except (Unanswered, KeyError):
        session.note("then no answer")
