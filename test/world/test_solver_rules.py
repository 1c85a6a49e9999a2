# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which solver a constraint gets: the first rule that matches, by kind, names and materials."""

import re
from pathlib import Path

import pytest
from world.scenes import one_joint

from hrpsim import Box, World, WorldError
from hrpsim.engine.constraints.friction_laws import LAWS
from hrpsim.engine.constraints.solver_table import (
    AUTO,
    CONTACTS,
    DIRECT,
    ITERATIVE,
    JOINTS,
    SOLVERS,
    SPLIT,
)
from hrpsim.world.objects.solver_rules import KINDS, SolverRules

HAND, BOX, FLOOR = ("robot", "hand"), ("box", "box"), ("world", "ground")


def contact_solver(rules: SolverRules, a, b, materials=("default", "default")) -> int:
    classes, table = rules.of_contacts([a, b], materials)
    assert table[classes[0], classes[1]] == table[classes[1], classes[0]]
    return table[classes[0], classes[1]]


def test_without_rules_what_is_joined_is_direct():
    rules = SolverRules()
    assert contact_solver(rules, HAND, BOX) == AUTO
    assert rules.of_connection(HAND, BOX) == DIRECT
    chosen = {kind: rules.of_joint(kind, "robot", "j") for kind in KINDS[2:]}
    direct = {"lock", "motor"}
    assert chosen == {kind: DIRECT if kind in direct else AUTO for kind in chosen}


@pytest.mark.parametrize("name, code", [("iterative", ITERATIVE), ("direct", DIRECT)])
def test_one_name_is_for_everything_without_a_rule(name, code):
    rules = SolverRules(name)
    assert contact_solver(rules, HAND, BOX) == rules.of_connection(HAND, BOX) == code
    assert all(rules.of_joint(kind, "robot", "j") == code for kind in KINDS[2:])
    rules.add("iterative" if code == DIRECT else "direct", bodies="box")
    assert contact_solver(rules, HAND, BOX) != code
    assert contact_solver(rules, HAND, FLOOR) == code


def test_split_is_for_contacts_alone():
    rules = SolverRules("split")
    assert contact_solver(rules, HAND, BOX) == SPLIT
    assert rules.of_connection(HAND, BOX) == DIRECT
    rules = SolverRules([{"solver": "split", "bodies": ["robot", "box"]}])
    assert contact_solver(rules, HAND, BOX) == SPLIT
    assert rules.of_connection(HAND, BOX) == DIRECT


def test_the_first_rule_that_matches_decides():
    rules = SolverRules(
        [
            {"solver": "split", "bodies": ["robot/hand", "box"]},
            {"solver": "iterative", "bodies": "robot/h*"},
            {"solver": "direct"},
        ]
    )
    assert contact_solver(rules, HAND, BOX) == contact_solver(rules, BOX, HAND) == SPLIT
    assert contact_solver(rules, HAND, FLOOR) == ITERATIVE
    assert contact_solver(rules, ("robot", "foot"), FLOOR) == DIRECT
    assert rules.of_connection(BOX, HAND) == ITERATIVE
    assert rules.of_connection(("robot", "foot"), BOX) == DIRECT


def test_two_patterns_need_two_bodies():
    """Either order; the same body does not count twice."""
    rules = SolverRules([{"solver": "direct", "kind": "contact", "bodies": ["a*", "ab*"]}])
    a, ab, c = ("a", "a"), ("ab", "ab"), ("c", "c")
    assert contact_solver(rules, a, ab) == contact_solver(rules, ab, a) == DIRECT
    assert contact_solver(rules, ab, ab) == DIRECT
    assert contact_solver(rules, a, a) == contact_solver(rules, ab, c) == AUTO


def test_materials_are_compared_like_bodies():
    rules = SolverRules([{"solver": "direct", "materials": ["rubber", "steel"]}])
    assert contact_solver(rules, HAND, BOX, ("steel", "rubber")) == DIRECT
    assert contact_solver(rules, HAND, BOX, ("rubber", "rubber")) == AUTO
    assert rules.usual["contact"] == AUTO
    rules = SolverRules([{"solver": "split", "materials": "rubber", "bodies": "box"}])
    assert contact_solver(rules, HAND, BOX, ("rubber", "wood")) == SPLIT
    assert contact_solver(rules, HAND, FLOOR, ("rubber", "wood")) == AUTO
    rules = SolverRules([{"solver": "iterative", "materials": "rubber"}, {"solver": "direct"}])
    assert rules.of_connection(HAND, BOX) == DIRECT


def test_joints_are_named_like_links():
    rules = SolverRules()
    rules.add("direct", "limit", "robot/knee*")
    rules.add("direct", "friction", "robot")
    rules.add("direct", None, ["robot", "box"])
    assert rules.of_joint("limit", "robot", "knee_l") == DIRECT
    assert rules.of_joint("limit", "robot", "hip") == AUTO
    assert rules.of_joint("friction", "robot", "hip") == DIRECT
    assert rules.of_joint("mimic", "robot", "hip") == AUTO


def test_classes_are_few():
    """A thousand alike shapes are one class."""
    rules = SolverRules([{"solver": "direct", "bodies": "robot/hand"}])
    owners = [("box", str(k)) for k in range(1000)] + [HAND]
    classes, table = rules.of_contacts(owners, ["default"] * 1001)
    assert table.tolist() == [[AUTO, DIRECT], [DIRECT, DIRECT]]
    assert (classes[:1000] == 0).all() and classes[1000] == 1


def test_rules_reach_the_rows_of_a_step():
    world = World(solver=[{"solver": "direct", "materials": "rubber"}])
    world.add_ground()
    hand = world.add_body(Box((0.1,) * 3), 1.0, (0, 0, 0.05), name="hand", material="rubber")
    box = world.add_body(Box((0.1,) * 3), 1.0, (0.5, 0, 0.05), name="box")
    robot = world.add_robot(one_joint(), name="one")
    robot.lock("j")
    grip = world.connect(hand, box)
    world.step()

    def rows():
        return world.stats.direct_rows, world.stats.split_rows

    assert rows() == (12 + 6 + 1, 0)  # the hand's contacts, the grip, the lock
    world.add_solver_rule("split", "contact", "box")
    world.add_solver_rule("iterative")
    world.step()
    assert rows() == (12, 12)
    grip.solver = "direct"
    robot.set_constraint("lock", solver="direct")
    world.add_body(Box((0.1,) * 3), 1.0, (5, 0, 5))
    world.step()
    assert rows() == (12 + 6 + 1, 12)
    grip.solver = None
    assert grip.solver == "iterative"
    world.reset()
    assert (grip.solver, world.connect(hand, None, solver="direct").solver) == (
        "iterative",
        "direct",
    )


@pytest.mark.parametrize(
    "given, named",
    [
        ("springs", ["springs", "penalty"]),
        (3, ["solver", "3"]),
        ([{"kind": "contact"}], ["rule 0", "solver"]),
        (["direct"], ["rule 0", "mapping"]),
        ([{"solver": "direct", "body": "a"}], ["rule 0", "body", "bodies"]),
        ([{"solver": "direct", "kind": "contacts"}], ["contacts", "Did you mean 'contact'"]),
        ([{"solver": "split", "kind": "lock"}], ["split", "contacts only"]),
        ([{"solver": "direct", "bodies": ["a", "b", "c"]}], ["bodies", "one or two"]),
        ([{"solver": "direct", "bodies": 3}], ["bodies", "3"]),
        ([{"solver": "direct", "kind": "limit", "materials": "a"}], ["materials", "limit"]),
    ],
)
def test_mistakes_are_named(given, named):
    with pytest.raises(WorldError) as error:
        World(solver=given)
    for part in named:
        assert part in str(error.value)


def test_a_solver_that_does_not_accept_the_friction_model_is_refused():
    """Law: Newton's method follows the derivative of the cone's projection; others have none."""
    others = r"'newton'.*'pyramid'. Use auto or iterative or direct or split"
    for given in ("newton", [{"solver": "newton"}], [{"solver": "newton", "materials": "a"}]):
        with pytest.raises(WorldError, match=others):
            World(solver=given, friction_model="pyramid")
    world = World(solver=[{"solver": "newton", "kind": "limit"}], friction_model="slip_direction")
    with pytest.raises(WorldError, match=r"'newton'.*'slip_direction'"):
        world.add_solver_rule("newton", "contact")
    world.add_solver_rule("direct", "contact")


def test_an_island_that_the_chosen_solver_does_not_accept_is_counted():
    """Law: rows for sweeps alone keep their island from Newton's method, and the answer says so."""
    rules = [{"solver": "iterative", "bodies": ["low", "world/*"]}, {"solver": "newton"}]
    world = World(solver=rules, sleeping=False)
    world.add_ground()
    for k, name in enumerate(("low", "high")):
        world.add_body(Box((0.1,) * 3), 1.0, (0, 0, 0.05 + 0.1 * k), name=name)
    world.step(3)
    stats = world.stats
    assert stats.converged and (stats.handed_over, stats.newton_islands) == (1, 0)


def test_the_guide_has_the_table_of_solvers():
    """Law: what the guide says that a solver is for is what the table says that it accepts."""
    path = Path(__file__).parents[2] / "docs/howto/choose_a_solver.md"
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| ([^|]*) \|", path.read_text(), re.MULTILINE)
    named = {CONTACTS: "contacts", JOINTS: "joints"}
    models = {law: name for name, law in LAWS.items()}
    for name, accepted, laws in rows:
        solver = SOLVERS[name]
        groups = "all" if solver.accepts == (CONTACTS, JOINTS) else named[solver.accepts[0]]
        of_laws = "all" if len(solver.laws) == len(LAWS) else f"`{models[solver.laws[0]]}`"
        assert (accepted, laws) == (groups, of_laws), name
    assert [name for name, *_ in rows] == list(SOLVERS)
