# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where ROS 2 comes from wheels: all ways to start Python find it; what is missing is named."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ros.conftest import LIMIT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def wheels():
    try:
        importlib.metadata.version("ros-rclpy")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("ROS 2 comes from an installation")


SPAWNING = """
import multiprocessing


def make_node(answers):
    import rclpy

    rclpy.init()
    node = rclpy.create_node("spawned")
    answers.put(node.get_name())
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=make_node, args=(answers,))
    process.start()
    print(answers.get(timeout=250.0))
    process.join()
"""


def test_a_spawned_process_has_ros(wheels, tmp_path):
    script = tmp_path / "spawning.py"
    script.write_text(SPAWNING)
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stdout) == (0, "spawned\n"), done.stderr


def test_the_console_script_runs(wheels):
    script = Path(sys.executable).parent / "hrpsim_node"
    if not script.exists():
        pytest.skip("hrpsim itself is not installed here")
    command = [script, "--ros-args", "-p", "duration:=0.01", "-p", "real_time_factor:=0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert "simulated 0.010 s" in done.stderr


def test_path_and_home_are_enough_of_an_environment(wheels, tmp_path):
    code = "import rclpy; rclpy.init(); rclpy.create_node('bare'); rclpy.shutdown(); print('ran')"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ROS_DOMAIN_ID": os.environ["ROS_DOMAIN_ID"],
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


@pytest.mark.long
def test_without_tf2_msgs_the_node_runs_and_says_so_once(simulations, listener, hide_module):
    hide_module("tf2_msgs")
    node = simulations.start(start_paused=True, remap=["__node:=plain"])
    assert sum("tf2_msgs is not installed" in line for line in node.lines) == 1
    assert listener.call("/plain/step").success
    assert listener.wait_for(lambda: "/joint_states" in listener.publishers_of("plain"))
    published = listener.publishers_of("plain")
    assert not {"/tf", "/tf_static"} & set(published)
    assert node.stop() == 0


def test_without_a_compiler_the_setup_goes_on_and_says_what_is_missing(monkeypatch, capsys):
    path = ROOT / "tools" / "setup_env.py"
    specification = importlib.util.spec_from_file_location("setup_env", path)
    setup_env = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(setup_env)
    monkeypatch.setattr(setup_env, "VENV", Path(sys.prefix))
    monkeypatch.setattr(setup_env, "install", lambda *arguments: pytest.fail("it builds"))
    if not list(Path(sys.prefix).glob("lib/python3*/site-packages/rclpy")):
        pytest.skip("ROS 2 comes from an installation")
    monkeypatch.setenv("CXX", "no-such-compiler --fast")
    assert not setup_env.install_interfaces("test")
    said = capsys.readouterr().out
    assert "cannot build tf2_msgs without a C++ compiler: no /tf, all else works" in said
    assert "sudo apt install g++" in said
