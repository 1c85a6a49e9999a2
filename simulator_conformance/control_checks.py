# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Laws about the simulation as a whole: features, state, steps, reset."""

from __future__ import annotations

from simulator_conformance.client import message
from simulator_conformance.session import (
    INCORRECT_STATE,
    OPERATION_FAILED,
    NotTried,
    Session,
    code_name,
    constants_of,
    demand,
    near,
)

_STEPS = 5
_GOALS = 5  # one of them must report all its steps
_PART_OF = {
    "SIMULATION_RESET_TIME": "SIMULATION_RESET",
    "SIMULATION_RESET_STATE": "SIMULATION_RESET",
    "SIMULATION_RESET_SPAWNED": "SIMULATION_RESET",
    "SIMULATION_STATE_PAUSE": "SIMULATION_STATE_SETTING",
    "SPAWNING_RESOURCE_STRING": "SPAWNING",
    "ENTITY_BOUNDS_BOX": "ENTITY_BOUNDS",
    "ENTITY_BOUNDS_CONVEX": "ENTITY_BOUNDS",
    "WORLD_RESOURCE_STRING": "WORLD_LOADING",
}


def reports_known_features(session: Session) -> None:
    """GetSimulatorFeatures: each is in the standard, listed once, and with the feature it needs."""
    listed = list(session.ask("GetSimulatorFeatures").features.features)
    unknown = sorted(set(listed) - set(constants_of(message("SimulatorFeatures")).values()))
    demand(not unknown, f"numbers of no feature: {unknown}")
    demand(len(set(listed)) == len(listed), "a feature is listed twice")
    for part, whole in _PART_OF.items():
        if session.claims(part):
            demand(session.claims(whole), f"{part} is claimed without {whole}")


def reports_its_state(session: Session) -> None:
    """GetSimulationState: the state is one of the standard's."""
    state = session.state()
    demand(state in range(6), f"state {state}")


def pauses(session: Session) -> None:
    """SetSimulationState: PAUSED is reached; a second request is ALREADY_IN_TARGET_STATE."""
    _reaches(session, "PAUSED")


def plays(session: Session) -> None:
    """SetSimulationState: PLAYING is reached; a second request is ALREADY_IN_TARGET_STATE."""
    _reaches(session, "PLAYING")
    session.pause()


def stops(session: Session) -> None:
    """SetSimulationState: STOPPED is reached; a second request is ALREADY_IN_TARGET_STATE."""
    _reaches(session, "STOPPED")


def knows_no_other_state(session: Session) -> None:
    """SetSimulationState: a state outside the standard is refused."""
    request = session.request("SetSimulationState")
    request.state.state = 211
    session.refused(session.ask("SetSimulationState", request))


def makes_one_step(session: Session) -> None:
    """StepSimulation: one step is made from a pause, after which it is paused again."""
    session.pause()
    session.expect(session.ask("StepSimulation", session.request("StepSimulation", steps=1)))
    _is_paused(session)


def makes_steps(session: Session) -> None:
    """StepSimulation: several steps are made from a pause, after which it is paused again."""
    session.pause()
    session.expect(session.ask("StepSimulation", session.request("StepSimulation", steps=_STEPS)))
    _is_paused(session)


def makes_no_step_while_playing(session: Session) -> None:
    """StepSimulation: refused while the simulation plays."""
    session.set_state("PLAYING")
    answer = session.ask("StepSimulation", session.request("StepSimulation", steps=1))
    session.pause()
    session.expect(answer, OPERATION_FAILED, INCORRECT_STATE)


def acts_in_steps(session: Session) -> None:
    """SimulateSteps: all steps are made, and feedback counts them.

    A result may overtake feedback, which the client then drops: one of a few goals must report all.
    """
    session.pause()
    for _ in range(_GOALS):
        accepted, result, feedback = session.simulator.simulate_steps(_STEPS)
        demand(accepted, "the goal is rejected")
        session.expect(result)
        if feedback and feedback[-1].completed_steps == _STEPS:
            break
    session.note(code_name(result, type(result)))
    demand(bool(feedback), "there is no feedback")
    sums = {one.completed_steps + one.remaining_steps for one in feedback}
    demand(sums == {_STEPS}, f"completed and remaining steps add up to {sorted(sums)}")
    demand(feedback[-1].completed_steps == _STEPS, "the last feedback is not that of the last step")


def acts_not_while_playing(session: Session) -> None:
    """SimulateSteps: refused, or rejected, while the simulation plays."""
    session.set_state("PLAYING")
    accepted, result, _ = session.simulator.simulate_steps(1)
    session.pause()
    if accepted:
        session.note(code_name(result, type(result)))
        session.refused(result)
    else:
        session.note("rejected")


def resets_state(session: Session) -> None:
    """ResetSimulation: SCOPE_STATE returns an entity to its initial state."""
    if not (session.claims("ENTITY_STATE_SETTING") and session.claims("ENTITY_STATE_GETTING")):
        raise NotTried("states can be neither set nor got")
    session.pause()
    name = session.entity()
    first = session.pose_of(name)
    request = session.request("SetEntityState", entity=name)
    request.state.pose = session.pose_of(name)
    request.state.pose.position.x += 3.0
    if hasattr(request, "set_pose"):
        request.set_pose = True
    session.expect(session.ask("SetEntityState", request))
    _reset(session, "SCOPE_STATE")
    demand(name in session.names(), "the entity is gone")
    demand(near(session.pose_of(name), first, 0.05), "the entity is not where it was at first")


def resets_spawned(session: Session) -> None:
    """ResetSimulation: SCOPE_SPAWNED deletes spawned entities."""
    name = session.entity()
    _reset(session, "SCOPE_SPAWNED")
    demand(name not in session.names(), "the entity is still there")


def resets_time(session: Session) -> None:
    """ResetSimulation: SCOPE_TIME is done."""
    _reset(session, "SCOPE_TIME")


def resets_all(session: Session) -> None:
    """ResetSimulation: the default scope is done; spawned entities are removed."""
    name = session.entity() if session.claims("SPAWNING") else ""
    _reset(session, "SCOPE_DEFAULT")
    demand(name not in session.names(), "what was spawned is still there")


def refuses_unclaimed_scopes(session: Session) -> None:
    """ResetSimulation: a scope that is not claimed is FEATURE_UNSUPPORTED."""
    for part in ("TIME", "STATE", "SPAWNED"):
        if not session.claims(f"SIMULATION_RESET_{part}"):
            scope = getattr(session.request("ResetSimulation"), f"SCOPE_{part}")
            request = session.request("ResetSimulation", scope=scope)
            session.expect(session.ask("ResetSimulation", request), 0)
            return
    raise NotTried("all scopes are claimed")


def quits(session: Session) -> None:
    """SetSimulationState: QUITTING is answered, then the simulator ends."""
    session.set_state("QUITTING")
    simulator = session.simulator
    gone = simulator.wait_for(lambda: not simulator.is_there())
    demand(gone, f"it is still there after {simulator.timeout:g} s")


def _reaches(session: Session, state: str) -> None:
    session.set_state(state)
    number = getattr(message("SimulationState"), f"STATE_{state}")
    if session.claims("SIMULATION_STATE_GETTING"):
        found = session.state()
        demand(found == number, f"then it is in state {found}, not {number}")
    request = session.request("SetSimulationState")
    request.state.state = number
    session.expect(session.ask("SetSimulationState", request), "ALREADY_IN_TARGET_STATE")


def _is_paused(session: Session) -> None:
    if session.claims("SIMULATION_STATE_GETTING"):
        state = session.state()
        paused = message("SimulationState").STATE_PAUSED
        demand(state == paused, f"then it is in state {state}, not {paused}")


def _reset(session: Session, scope: str) -> None:
    request = session.request("ResetSimulation")
    request.scope = getattr(request, scope)
    session.expect(session.ask("ResetSimulation", request))
