# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which arrays of the scene a kernel reads and writes, found in the source of it and its callees.

Every local name stands for the arrays (paths below the parameters) that it may be a part of,
wherever it is assigned. What is assigned to, or handed to a callee that does so, is written; what
is used in an expression is read.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import hrpsim
from hrpsim.engine.compile.fields import declared_fields
from hrpsim.engine.step.arrays import Scene

PACKAGE = Path(inspect.getfile(hrpsim)).parent
LEAVES = {tuple(path.split(".")) for path, _ in declared_fields(Scene)}
STAGES = {
    "begin_step": "step",
    "forward_kinematics": "step",
    "find_contacts": "contact_search",
    "unconstrained_dynamics": "motion.unconstrained_motion",
    "begin_drives": "motion.actuators",
    "prepare_rows": "rows.prepare_rows",
    "resolve_impacts": "impacts.impacts",
    "resolve_inelastic_impacts": "impacts.inelastic_impacts",
    "constrain": "rows.constrain",
    "revise_actuators": "step",
    "wake_touched": "sleep_detection",
    "read_sensors": "step",
    "integrate": "step",
    "store_for_next_step": "step",
    "audit_energy": "audit.audit_energy",
    "detect_rest": "sleep_detection",
    "restore_start": "restoring",
}
NOT_DATA = {"shape", "size"}

AliasSet = frozenset  # of paths: tuples of names, the first a parameter


@dataclass
class Effects:
    """What a function reads and writes, below its parameters."""

    parameters: list[str]
    reads: set[tuple[str, ...]] = field(default_factory=set)
    writes: set[tuple[str, ...]] = field(default_factory=set)


@cache
def module_tree(module: str) -> tuple[dict[str, ast.FunctionDef], dict[str, tuple[str, str]]]:
    """Return the functions of a module by name, and (module, name) of what it imports."""
    file = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if not file.exists():
        file = file.with_suffix("") / "__init__.py"
    functions, imported = {}, {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hrpsim"):
            for name in node.names:
                imported[name.asname or name.name] = node.module, name.name
    return functions, imported


@cache
def kernels_of_order(module: str, name: str | None) -> tuple[str, ...]:
    """Return the kernels of the table of attempts (`order_of`) that a name in a module is made of.

    Each of them may be called, with the last arguments of a call of that name.
    """
    file = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if name is None or not file.exists():
        return ()
    tables, found = {}, ()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign):
            targets, used = _names_in(node.targets[0]), _names_in(node.value)
            tables |= dict.fromkeys(targets, used)
            if name in targets and used[:1] == ("order_of",):
                found = (*tables[used[1]], *used[2:])
    return tuple(kernel for kernel in found if find_function(module, kernel))


def _names_in(node: ast.AST) -> tuple[str, ...]:
    """Return the names in an expression."""
    return tuple(found.id for found in ast.walk(node) if isinstance(found, ast.Name))


def find_function(module: str, name: str) -> tuple[str, ast.FunctionDef] | None:
    """Return (module, definition) of what a name in a module stands for, if it is a function."""
    functions, imported = module_tree(module)
    if name in functions:
        return module, functions[name]
    return find_function(*imported[name]) if name in imported else None


@cache
def effects_of(module: str, name: str) -> Effects:
    """Return the effects of a function of a module."""
    module, function = find_function(module, name)
    return _Reader(module, function).effects


class _Reader(ast.NodeVisitor):
    """Goes through a function until nothing new is found: loops carry names back to their start."""

    def __init__(self, module: str, function: ast.FunctionDef):
        self.module = module
        parameters = [argument.arg for argument in function.args.args]
        self.effects = Effects(parameters)
        self.names: dict[str, set] = {name: {(name,)} for name in parameters}
        before = -1
        while before != (before := sum(map(len, self.names.values()))):
            for statement in function.body:
                self.visit(statement)

    # -- what an expression may be a part of ----------------------------------------------------

    def paths(self, node) -> AliasSet:
        """Return the arrays that an expression is a part of; what else it uses is read."""
        if isinstance(node, ast.Name):
            return AliasSet(self.names.get(node.id, ()))
        if isinstance(node, ast.Attribute):
            return AliasSet((*path, node.attr) for path in self.paths(node.value))
        if isinstance(node, ast.Subscript):
            self.read(node.slice)
            return self.paths(node.value)
        if isinstance(node, ast.IfExp):
            self.read(node.test)
            return self.paths(node.body) | self.paths(node.orelse)
        self.visit(node)
        return AliasSet()

    def read(self, node) -> None:
        """Take an expression for its value."""
        self.effects.reads |= {p for p in self.paths(node) if not NOT_DATA & set(p)}

    def write(self, paths) -> None:
        self.effects.writes |= set(paths)

    # -- statements -----------------------------------------------------------------------------

    def assign(self, target, value) -> None:
        if isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [None] * len(target.elts)
            for one, part in zip(target.elts, values, strict=True):
                self.assign(one, part)
        elif isinstance(target, ast.Name):
            if value is not None:
                self.names.setdefault(target.id, set()).update(self.paths(value))
        else:
            self.write(self.paths(target))
            if value is not None:
                self.read(value)

    def visit_Assign(self, node) -> None:
        if isinstance(node.targets[0], ast.Tuple) and not isinstance(node.value, ast.Tuple):
            self.read(node.value)
        for target in node.targets:
            self.assign(target, node.value)

    def visit_AugAssign(self, node) -> None:
        self.read(node.value)
        self.read(node.target)
        if not isinstance(node.target, ast.Name):
            self.write(self.paths(node.target))

    def visit_Call(self, node) -> None:
        callee = node.func.id if isinstance(node.func, ast.Name) else None
        found = find_function(self.module, callee) if callee else None
        kernels = kernels_of_order(self.module, callee) if found is None else ()
        for kernel in kernels:
            self.call(*find_function(self.module, kernel), node.args[-3:])
        if kernels:
            return
        if found is None:
            for argument in node.args:
                self.read(argument)
            if isinstance(node.func, ast.Attribute):
                self.read(node.func)
            if _is_store(self.module, callee):
                self.write(self.paths(node.args[0]))
            return
        arguments = list(node.args)
        if _takes_addresses(found[1]):
            self.read(arguments.pop(0))
        self.call(*found, arguments)

    def call(self, module: str, function: ast.FunctionDef, arguments: list) -> None:
        """Add the effects of a callee with these arguments."""
        effects = effects_of(module, function.name)
        given = dict(zip(effects.parameters, map(self.paths, arguments), strict=False))
        for kind in ("reads", "writes"):
            for parameter, *rest in getattr(effects, kind):
                for path in given.get(parameter, ()):
                    getattr(self.effects, kind).add((*path, *rest))

    def generic_visit(self, node) -> None:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.IfExp)):
            self.read(node)
        else:
            super().generic_visit(node)

    visit_Name = visit_Attribute = visit_Subscript = visit_IfExp = generic_visit


def _is_store(module: str, name: str | None) -> bool:
    """Return whether a name in a module stands for an intrinsic that writes its first argument."""
    home, there = module_tree(module)[1].get(name, ("", ""))
    return home == "hrpsim.engine.spatial.simd" and there.startswith("store")


def _takes_addresses(function: ast.FunctionDef) -> bool:
    """Return whether a lazily compiled kernel is called with addresses before its own arguments."""
    return any("lazy_kernel_of_parts" in ast.dump(d) for d in function.decorator_list)


def arrays(paths: set[tuple[str, ...]]) -> set[str]:
    """Return the arrays of the scene, "work.dv" say, that some paths below `s` belong to."""
    found = set()
    for _, *names in paths:
        for length in (1, 2):
            if tuple(names[:length]) in LEAVES:
                found.add(".".join(names[:length]))
                break
        else:
            if names:
                found.add(names[0])  # a part that is declared as a whole
    return found


def parts(names: set[str]) -> set[str]:
    """Return the fields of the scene that some arrays belong to."""
    return {name.split(".")[0] for name in names}
