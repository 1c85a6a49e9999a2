# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics, forward and inverse dynamics, mass matrix and derivatives, next to other engines."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.cases import rigid_body_kernels as kernels
from evidence.benchmarks.engines.mujoco_algorithms import MujocoAlgorithms
from evidence.benchmarks.engines.pinocchio_algorithms import LOOP, PinocchioAlgorithms
from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.robots import bare_model, named_robots
from evidence.benchmarks.timing import Effort, Subject, interleave
from evidence.experiments.framework.engines import mujoco_module, pinocchio_module
from hrpsim.derivatives.tangent import new_columns
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.dynamics.articulated import new_workspace
from hrpsim.model.system import FREE

STATES = 256
OURS = "hrpsim"
ALGORITHMS = ("kinematics", "ABA", "RNEA", "CRBA", "ABA derivatives", "RNEA derivatives")


class Ours:
    """Compiled loops of hrpsim's algorithms over random states of one model."""

    def __init__(self, model) -> None:
        self.model, self.space = model, new_workspace(model.system)
        random = np.random.default_rng(1)
        self.q = random.uniform(-1.0, 1.0, (STATES, model.nq))
        for joint in model.joints:
            if joint.joint_type == FREE:
                at = slice(joint.q_index + 3, joint.q_index + 7)
                self.q[:, at] /= np.linalg.norm(self.q[:, at], axis=1, keepdims=True)
        self.v, self.dv, self.tau = random.normal(size=(3, STATES, model.nv))
        self.tau[:, :6] = 0.0
        self.out = np.zeros((STATES, model.nv))
        self.M = np.zeros((model.nv, model.nv))
        self.derivatives = TupleReference(self.space)
        self.columns = new_columns(model.nv)

    def subject(self, algorithm: str) -> Subject:
        """Return a subject that runs the loop of an algorithm."""
        s, q, v, d, columns = self.space, self.q, self.v, self.derivatives, self.columns
        run = {
            "kinematics": lambda n: kernels.run_kinematics(s, q, v, n),
            "ABA": lambda n: kernels.run_aba(s, q, v, self.tau, n, self.out),
            "RNEA": lambda n: kernels.run_rnea(s, q, v, self.dv, n, self.out),
            "CRBA": lambda n: kernels.run_crba(s, q, n, self.M),
            "ABA derivatives": lambda n: kernels.run_aba_derivatives(d, q, v, self.tau, n, columns),
            "RNEA derivatives": lambda n: kernels.run_rnea_derivatives(
                d, q, v, self.dv, n, columns
            ),
        }[algorithm]
        return Subject(OURS, run, ours=True)

    def numbers(self, algorithm: str) -> np.ndarray:
        """Return the result of an algorithm for the last state, in the public layout."""
        self.subject(algorithm).run(STATES)
        if algorithm == "kinematics":
            kinematics = self.space.kinematics
            return kinematics["p"] + kinematics["origin"][self.model.system.root]
        if algorithm == "ABA":
            return self.out[-1]
        if algorithm.endswith("derivatives"):
            return self.columns[:, : 3 * self.model.nv]
        x, y, z, w = self.q[-1, 3:7]
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        T = np.eye(self.model.nv)  # moment, force in the world to force, moment in the base
        T[:6, :6] = 0.0
        T[:3, 3:6] = T[3:6, :3] = R.T
        return T @ self.out[-1] if algorithm == "RNEA" else T @ self.M @ T.T


def run(result: CaseResult, effort: Effort) -> None:
    """Time the algorithms of every robot in turn, and compare the results."""
    pinocchio, mujoco = pinocchio_module(), mujoco_module()
    overhead: dict[tuple[str, str], float] = {}
    for name, text in named_robots().items():
        model = bare_model(text)
        own, peers = Ours(model), []
        if pinocchio is not None:
            peers.append(PinocchioAlgorithms(pinocchio, model, own.q, own.v, own.tau, own.dv))
        if mujoco is not None:
            peers.append(MujocoAlgorithms(mujoco, model, own.q, own.v))
        if not overhead:
            for peer in peers:
                overhead |= peer.overhead(effort)
        for algorithm in ALGORITHMS:
            subjects = [own.subject(algorithm)]
            for peer in peers:
                subjects += peer.subjects(algorithm)
            exact = {}
            if pinocchio is not None:
                apart = peers[0].difference(algorithm, own.numbers(algorithm))
                exact[OURS] = {"relative difference from pinocchio": apart}
            _measure(result, f"{name} {algorithm}", algorithm, subjects, exact, overhead, effort)
    if overhead:
        rows = [[*key, f"{1e6 * value:.2f}"] for key, value in overhead.items()]
        result.extra.append((["subtracted calls from Python", "", "[us]"], rows))
    result.notes += [
        f"{STATES} random states, the same for hrpsim and pinocchio, in compiled loops "
        "(pinocchio's ABA and RNEA: abaInParallel and rneaInParallel on one thread)",
        "Some functions are called from Python, and the time of the same calls for a model of one "
        "joint is subtracted: pinocchio's kinematics, CRBA, derivatives and WORLD convention, all "
        "of mujoco",
        "pinocchio's wheel is compiled for any x86-64 processor, hrpsim for this processor",
        "All begin with poses and velocities (CRBA: poses). Results have the public layout, but "
        "hrpsim's wrench and rows of the base are along the world's axes",
        "derivatives: three matrices, analytic. mujoco has none",
        "mujoco has one state. Its ABA computes, factorises and solves M once (mj_makeM, "
        "mj_factorM, mj_rne, mj_solveM), which costs more than a step that uses M again",
    ]


def _measure(result, quantity, algorithm, subjects, exact, overhead, effort) -> None:
    """Time the subjects in turn. Subtract the overhead of calls from Python."""
    times = interleave(subjects, effort)
    for name in times:
        times[name] = np.maximum(times[name] - overhead.get((name, algorithm), 0.0), 1e-9)
    others = [name for name in times if name != OURS]
    if not others:
        result.measure(quantity, subjects, effort)
        return
    result.note(quantity, times, others[0], {OURS: True}, exact)
    rivals = [name for name in others if name.startswith(LOOP)]
    if rivals:
        fastest = min(rivals, key=lambda name: np.median(times[name]))
        text = f"{quantity}: hrpsim / pinocchio's fastest"
        result.claims.append(Claim(text, median_ratio(times, OURS, fastest), 1.0))


def draw(result: CaseResult, figure) -> None:
    """Draw the times of every robot and algorithm as bars."""
    axes = figure.subplots()
    draw_bars(result, axes, list(dict.fromkeys(m.quantity for m in result.measurements)))


CASE = Case("Rigid-body algorithms", run, draw)
