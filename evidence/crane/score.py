# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The score of the crane game: the bodies in the goal."""

GOAL = "goal"  # the fixed shape of that name
_UPRIGHT = 0.5  # least height of the unit normal of a supporting contact


def in_goal(world) -> list[str]:
    """Return the names of the free bodies in the goal, in the world's order.

    A body is in the goal if it rests on the fixed shape "goal", or on other bodies in the goal,
    according to the contacts of the last step. The crane must not touch the body.
    """
    carried_by: dict[str, set[str]] = {}
    gripped = set()
    for contact in world.contacts:
        if not contact.force.any():
            continue
        (a, a_link), (b, b_link) = contact.a, contact.b
        if "crane" in (a, b):
            gripped |= {a, b}
            continue
        if abs(contact.normal[2]) < _UPRIGHT:
            continue
        upper, lower = (a, b_link) if contact.normal[2] > 0.0 else (b, a_link)
        carried_by.setdefault(upper, set()).add(lower)
    lying: set[str] = {GOAL}
    while more := {
        n for n, below in carried_by.items() if n not in lying | gripped and below & lying
    }:
        lying |= more
    return [name for name in world.bodies if name in lying]
