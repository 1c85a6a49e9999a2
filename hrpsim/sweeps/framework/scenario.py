# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Scenarios: a simulation for many runs, with parameters, outcomes and errors."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import CodeType, ModuleType
from typing import Any

import voluptuous as vol

from hrpsim.common.errors import HrpsimError, shown_value, unknown_name
from hrpsim.common.limits import SHOWN_LENGTH
from hrpsim.common.resources import user_path
from hrpsim.common.schema import Kind, flag, name, numeric, scalar
from hrpsim.control.framework.user_modules import module_in_file

_FEW = 12  # largest number of parameters that an error lists completely
_NEAR = 4


class SweepError(HrpsimError, ValueError):
    """A sweep cannot be run, stored or continued. Finished runs stay in the store."""


def unknown_parameter(given: str, available: Iterable[str]) -> str:
    """Return the message for an unknown path: the nearest paths, and how to list all paths."""
    paths = list(available)
    if len(paths) <= _FEW:
        return unknown_name("parameter", given, paths)
    from difflib import get_close_matches

    near = [path for path in paths if path.startswith(f"{given}.")]
    near = near or [path for path in paths if path.endswith(f".{given}")]
    near = near or get_close_matches(given[:SHOWN_LENGTH], paths, _NEAR)
    if near:
        hint = f"Did you mean {', '.join(map(repr, near[:_NEAR]))}?"
    else:
        sections = dict.fromkeys(path.partition(".")[0] for path in paths)
        hint = f"Paths begin with {', '.join(sections)}."
    return (
        f"parameter {shown_value(given)} does not exist. {hint} "
        f"`hrpsim sweep STUDY --parameters` lists all {len(paths)}"
    )


def needed_package(name: str, purpose: str) -> ModuleType:
    """Import a package. Raises SweepError, with the command to install it, if missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SweepError(
            f"{purpose} needs {name.partition('.')[0]} ({error}): pip install 'hrpsim[sweep]'"
        ) from error


@dataclass(frozen=True)
class Parameter:
    """The kind (hrpsim.common.schema) and unit of a parameter."""

    kind: Kind
    unit: str = ""

    def mistake(self, value: Any) -> str:
        """Return the reason why a value is invalid for this parameter, or ""."""
        try:
            self.kind(value)
        except vol.Invalid as error:
            return str(error.error_message if hasattr(error, "error_message") else error)
        return ""


@dataclass(frozen=True)
class Outcome:
    """The declaration of a result of every run: a number, or an array of a fixed shape."""

    unit: str = ""
    about: str = ""
    shape: tuple[int, ...] = ()


class Scenario(ABC):
    """A simulation to run many times. A scenario must be picklable: other processes receive it.

    A run must depend on the values and the seed only, not on previous runs. `runs` is a text that
    describes how runs are made.
    """

    runs = "in process"

    @property
    @abstractmethod
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes of a run, by name."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters that may be varied, by path."""

    @abstractmethod
    def run(self, values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
        """Return the outcomes of one run. A missing outcome is NaN."""

    @abstractmethod
    def identity(self) -> Any:
        """Return as JSON data all that determines results, except values, seed and versions."""

    def run_together(
        self, runs: Sequence[tuple[Mapping[str, Any], int]]
    ) -> Sequence[Mapping[str, Any] | Exception] | None:
        """Make several runs that share work. Return the outcomes or the error of each run.

        The default returns None. The runs are then made one after another.

        Args:
            runs: values and seed of each run. The outcomes must not depend on the other runs.
        """
        return None

    def check(self, values: Mapping[str, Any]) -> None:  # noqa: B027
        """Raise HrpsimError for values that contradict each other."""

    def probe(self) -> str:
        """Return a hash of sample results, to compare processors, or "" for no comparison."""
        return ""


class FunctionScenario(Scenario):
    """A plain function of named parameters, and of a `seed` if the function has this parameter.

    Pass the function, or "module:function" or "path/to/file.py:function" for other processes to
    find. The function returns a mapping from outcome names to values. `outcomes` lists the names
    and units. The list may also be an attribute `outcomes` of the function.

        def slide(speed, friction=0.5):
            ...
            return {"distance": x}

        FunctionScenario(slide, {"distance": "m"})
    """

    def __init__(
        self,
        function: Callable[..., Mapping[str, Any]] | str,
        outcomes: Mapping[str, str | Outcome] | None = None,
    ) -> None:
        self.name = function if isinstance(function, str) else None
        if isinstance(function, str):
            function = function_called(function)
        if outcomes is None:
            outcomes = getattr(function, "outcomes", None)
        if not outcomes:
            raise SweepError(
                f"{_called(function)}: its outcomes are not known. Give "
                f"outcomes={{name: unit, ...}}"
            )
        self.function = function
        self._outcomes = {
            str(key): outcome if isinstance(outcome, Outcome) else Outcome(str(outcome))
            for key, outcome in outcomes.items()
        }

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes that the function returns."""
        return self._outcomes

    def parameters(self) -> dict[str, Parameter]:
        """Return the function's parameters. A default sets the kind of a parameter."""
        result = {}
        for key, parameter in inspect.signature(self.function).parameters.items():
            if key == "seed":
                continue
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise SweepError(
                    f"{_called(self.function)}: parameters must have names, got {parameter}"
                )
            kind: Kind = scalar
            if isinstance(parameter.default, bool):
                kind = flag
            elif isinstance(parameter.default, (int, float)):
                kind = numeric()
            elif isinstance(parameter.default, str):
                kind = name
            result[key] = Parameter(kind)
        return result

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise SweepError for missing parameters without a default."""
        for key, parameter in inspect.signature(self.function).parameters.items():
            if key != "seed" and parameter.default is parameter.empty and key not in values:
                raise SweepError(f"{_called(self.function)} needs a value of {key!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out a function that other processes can find by name."""
        return self.__dict__ | ({"function": None} if self.name else {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the function."""
        self.__dict__.update(state)
        if self.name:
            self.function = function_called(self.name)

    def run(self, values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
        """Call the function with the values and, if accepted, the seed."""
        if "seed" in inspect.signature(self.function).parameters:
            return self.function(**values, seed=seed)
        return self.function(**values)

    def identity(self) -> dict[str, Any]:
        """Return the function's name and a hash of its source, or of its bytecode."""
        for where in (inspect.getmodule(self.function), self.function):
            try:
                text = inspect.getsource(where)
                break
            except (OSError, TypeError):
                continue
        else:
            text = repr(_bytecode(self.function.__code__))
        return {
            "function": _called(self.function),
            "source": hashlib.sha256(text.encode()).hexdigest(),
        }


def _bytecode(code: CodeType) -> tuple:
    constants = (_bytecode(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.co_code, code.co_names, tuple(constants)


def as_scenario(given: Any) -> Scenario:
    """Return a scenario unchanged, or a function as a scenario. Raises SweepError otherwise."""
    if isinstance(given, Scenario):
        return given
    if callable(given) or isinstance(given, str):
        return FunctionScenario(given)
    raise SweepError(f"scenario must be a function or a Scenario, got {shown_value(given)}")


def _module_called(name: str, module_name: str) -> ModuleType:
    """Import a module, or a file that ends in .py. Raises SweepError if that fails."""
    path = user_path(module_name) if module_name.endswith(".py") else None
    if path is not None and not path.is_file():
        raise SweepError(f"{name!r}: there is no file {module_name}")
    try:
        return module_in_file(path) if path else importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # raised by the user's module
        raise SweepError(f"{name!r}: {type(error).__name__}: {error}") from error


@lru_cache
def function_called(name: str) -> Callable[..., Any]:
    """Import "module:function" or "path/to/file.py:function". Raises SweepError if missing."""
    module_name, separator, attribute = name.rpartition(":")
    if not (separator and module_name and attribute):
        raise SweepError(f"{name!r}: must be 'module:function' or 'path/to/file.py:function'")
    module = _module_called(name, module_name)
    result = getattr(module, attribute, None)
    if not callable(result):
        functions = [k for k, v in vars(module).items() if inspect.isfunction(v) and k[0] != "_"]
        raise SweepError(f"{module_name}: {unknown_name('function', attribute, functions)}")
    return result


def _called(function: Any) -> str:
    module = getattr(function, "__module__", "?")
    return f"{module}:{getattr(function, '__qualname__', repr(function))}"
