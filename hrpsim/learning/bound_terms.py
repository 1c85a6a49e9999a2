# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms of a task bound to its state: functions found by name, with their arguments checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hrpsim.common.errors import StateError, require_name
from hrpsim.common.typed_values import require_arguments, require_fitting_arguments
from hrpsim.learning.configs import Term
from hrpsim.learning.terms.task_state import TaskState


class BoundTerm(NamedTuple):
    """The function of a term with its arguments.

    `reset` clears the memory of a term in chosen worlds.
    """

    call: Callable[..., Any]
    params: Mapping[str, Any]
    reset: Callable[..., None] | None

    def value(self, *arguments: Any) -> Any:
        """Call the function, and return its result.

        An event gets the indices of worlds in addition.
        """
        return self.call(*arguments, **self.params)


def bound_term(
    kind: str,
    name: str,
    func: Term,
    params: Mapping[str, Any],
    known: Mapping[str, Callable[..., Any]],
    state: TaskState,
    leading: int = 1,
) -> BoundTerm:
    """Find the function of a term by name, and check its arguments.

    Args:
        kind: "observation", "reward", "termination" or "event", for errors.
        name: name of the term in the task, for errors.
        func: a name in `known`, a function, or a class that is constructed once with state and
            params.
        params: arguments by name.
        known: functions by name.
        state: state of the worlds.
        leading: number of arguments before `params`.

    Raises:
        StateError: the function or an argument is unknown, an argument is missing, or an argument
            of a known term has the wrong type.
    """
    if isinstance(func, str):
        require_name("term", func, known, StateError, where=f"{kind} {name!r}")
        func = known[func]
    label = f"{kind} {name!r}"
    require_arguments(label, func, params, leading)
    if func in known.values():
        require_fitting_arguments(label, func, params)
    has_memory, call = inspect.isclass(func), func
    if has_memory:
        made = call(state, **params)
        return BoundTerm(made, {}, getattr(made, "reset", None))
    return BoundTerm(func, params, getattr(func, "reset", None))
