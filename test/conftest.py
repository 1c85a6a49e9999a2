# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Settings that every test runs under."""

import os
import signal
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from grouped import left_out, own_shared_memory
from interpreted import prepared_kernels

from hrpsim.ros.base.domain import PrivateDomain

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # where the package benchmarks lies

# Test oracles and tools: where one is not installed, what needs it is skipped by its name.
OPTIONAL = {
    *("backports", "collada", "coal", "fcl", "hypothesis", "matplotlib", "mujoco", "pinocchio"),
    *(
        "control_msgs",
        "rosbags",
        "simulation_interfaces",
        "tf2_msgs",
        "trimesh",
        "viser",
        "unitree_go",
        "unitree_hg",
    ),
    *("cma", "distributed", "gymnasium", "xarray", "zarr"),
}

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

# Each worker of each test run talks ROS to itself only: on this machine, with shared memory of its
# own where that is permitted, and in a domain that is held while it runs, so that neither another
# run nor a demonstration of a test's own gets it.
own_shared_memory()
_domain = PrivateDomain()
os.environ.update(_domain.environment())

# A run in the background of a script ignores Ctrl-C, which its children would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests decide the same each day; new examples are for `make fuzz`, or asked for with
# `--hypothesis-profile default`.
try:
    from hypothesis import settings
except ModuleNotFoundError:
    pass
else:
    settings.register_profile("hrpsim", derandomize=True, deadline=None)
    settings.load_profile("hrpsim")


def pytest_addoption(parser, pluginmanager):
    """Know the option of pytest-timeout where that is not installed."""
    if not any(map(pluginmanager.hasplugin, ("timeout", "pytest_timeout"))):
        parser.addini("timeout", "seconds a test may take (pytest-timeout)")


def pytest_configure(config):
    """Know the markers of plugins that may not be installed."""
    config.addinivalue_line("markers", "timeout(seconds): of pytest-timeout")
    config.addinivalue_line("markers", "xdist_group(name): of pytest-xdist")
    config.addinivalue_line("markers", "flaky(reruns): of pytest-rerunfailures")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as long the cases of each test that its mark `quick_cases` does not name.

    Workers that collected in another order (see below) have one order again. A test whose processes
    talk over ROS runs once more where it fails (CONTRIBUTING.md).
    """
    if WORKERS > 1:
        items.sort(key=lambda item: item.path.relative_to(HERE).parts[0])
    tests = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("quick_cases") and hasattr(item, "callspec"):
            tests[item.parent, item.originalname][item.callspec.id] = item
    for cases in tests.values():
        patterns = next(iter(cases.values())).get_closest_marker("quick_cases").args
        for case in left_out(cases, patterns):
            cases[case].add_marker(pytest.mark.long)
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group and group.args[0].split()[0] == "ros":
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def _derivatives_of_steps():
    """The kernels of the derivatives of a step, interpreted, by the modules that call them."""
    from hrpsim.derivatives import (
        connection_sides,
        corrections,
        given_impulses,
        sensor_slopes,
        step_derivatives,
    )

    callers = connection_sides, corrections, given_impulses, sensor_slopes, step_derivatives
    return {module: prepared_kernels(module) for module in callers}


@pytest.fixture
def derivatives_in_python(request, monkeypatch, _derivatives_of_steps):
    """Run the kernels of the derivatives of a step as Python, in tests that are not long.

    Compiling them takes half a minute of processor time, and most tests take less than a second
    without it.
    """
    if not request.node.get_closest_marker("long"):
        for module, kernels in _derivatives_of_steps.items():
            for name, function in kernels.items():
                monkeypatch.setattr(module, name, function)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Skip a file that imports what may be missing and is.

    Each worker of pytest-xdist begins with another of the folders: in a new checkout, one of them
    compiles the assertions of a file, and the others read what it stored.
    """
    report = (yield).get_result()
    if collector.path == HERE and report.passed:
        first = len(report.result) * WORKER // WORKERS
        report.result = report.result[first:] + report.result[:first]
    call = getattr(report, "call", None)
    lacking = _lacking(call.excinfo.value) if call and call.excinfo else None
    if report.failed and lacking:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: {lacking} is not installed")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip a test that imports what may be missing and is."""
    report = (yield).get_result()
    lacking = _lacking(call.excinfo.value) if call.excinfo else None
    if report.failed and lacking:
        path, line, _ = item.location
        report.outcome = "skipped"
        report.longrepr = (path, line, f"Skipped: {lacking} is not installed")


def _lacking(error):
    """Return the name of the optional package without which an error would not have been."""
    while error is not None:
        name = getattr(error, "name", None)
        if isinstance(error, ModuleNotFoundError) and name:
            package = name.partition(".")[0]
            return package if package in OPTIONAL else None
        error = error.__cause__ or error.__context__
    return None
