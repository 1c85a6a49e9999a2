# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A scenario is known by what it does: the same text, the same identity; another text, another."""

from hrpsim.sweeps.framework.scenario import FunctionScenario

TYPED = """
def twice(x=1.0):
    grow = lambda y: 2.0 * y
    return {"grown": grow(x)}

twice.outcomes = {"grown": "m"}
"""


def typed(text):
    """Return a function that no file has, as one typed at a prompt."""
    names = {}
    exec(text, names)
    return FunctionScenario(names["twice"]).identity()


def test_a_function_typed_at_a_prompt_is_known_by_its_bytecode():
    assert typed(TYPED) == typed(TYPED)
    assert typed(TYPED) != typed(TYPED.replace("2.0", "3.0"))
