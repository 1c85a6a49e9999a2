# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Create or complete the checkout's .venv: python tools/setup_env.py demo|test STAMP.

tools/env.sh calls this script with the Python that .venv uses. The script needs only the standard
library. Complete parts are kept. .venv is recreated if it belongs to another Python or checkout, or
if a ROS 2 was sourced then and is not now, or vice versa. The script writes STAMP when the
environment is complete.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
EXTRAS = {
    "demo": ["record", "plot", "camera"],
    "test": ["record", "plot", "viewer", "camera", "onnx", "sweep", "learning", "test"],
}
# Message packages that no registry has; the third takes half a minute and the demo needs the first.
INTERFACES = {
    "demo": ["tf2_msgs"],
    "test": ["tf2_msgs", "control_msgs", "simulation_interfaces", "unitree_go", "unitree_hg"],
}
AGAIN = "Correct the error above and run make again"
DETAIL = re.compile(r" [-+~] |\s*(Downloaded|Built|Prepared|Installed|Uninstalled|Checked) ")
STARTED = time.monotonic()


def main(profile: str, stamp: str) -> None:
    """Install everything that `profile` needs into .venv. Exit with a message on failure."""
    # One at a time: the lock file is the folder of requirements itself, so nothing is left behind.
    lock = os.open(ROOT / "requirements", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ready = VENV / f"hrpsim-ready-{profile}"
    ready.unlink(missing_ok=True)
    ros = sourced_ros()
    make_venv(ros)
    install_requirements(profile, ros)
    complete = check_sourced_ros(ros) if ros else install_interfaces(profile)
    if complete:
        ready.write_text(stamp)
    report("environment ready" if complete else "environment ready, except for what is named above")


def sourced_ros() -> str | None:
    """Return the name of the ROS 2 distribution that is sourced for this Python, or None."""
    distribution = os.environ.get("ROS_DISTRO")
    if not distribution:
        return None
    if importlib.util.find_spec("rclpy") is None:
        report(
            f"ROS_DISTRO is {distribution}, but Python {sys.version.split()[0]} finds no rclpy:"
            " using ROS 2 from wheels"
        )
        return None
    return distribution


def make_venv(ros: str | None) -> None:
    """Create .venv, unless an identical .venv exists."""
    identity = f"{ROOT}\n{sys.version}\nROS: {ros}\n"
    marker = VENV / "hrpsim-made-for"
    if PYTHON.exists() and marker.exists() and marker.read_text() == identity:
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        packages = [apt_name("venv"), *missing_build_tools().values()]
        stop(
            f"{sys.executable} cannot make virtual environments (no ensurepip);"
            f" on Debian or Ubuntu: sudo apt install {' '.join(packages)}"
        )
    report(f"making .venv with Python {sys.version.split()[0]}" + (f", ROS 2 {ros}" if ros else ""))
    if VENV.exists():
        shutil.rmtree(VENV)
    options = ["--system-site-packages"] if ros else []
    run([sys.executable, "-m", "venv", *options, str(VENV)], "making .venv")
    marker.write_text(identity)


def install_requirements(profile: str, ros: str | None) -> None:
    """Install hrpsim (editable) and its requirements in the locked versions."""
    report(f"installing what make {profile} needs (downloads, the first time)")
    lock = ROOT / "requirements" / "lock.txt"
    if not UV.exists():
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pinned = re.search(r"^uv==[^\\\n]*(\\\n[^\\\n]*)*", lock.read_text(), re.MULTILINE).group()
        run([*pip, "--require-hashes", "-r", "/dev/stdin"], "installing uv", given=pinned)
    install("--constraint", str(lock), "-r", str(ROOT / "requirements" / "build.in"))
    extras = ",".join(EXTRAS[profile] + ([] if ros else ["ros"]))
    own = ["--no-build-isolation-package", "hrpsim", "--editable", f"{ROOT}[{extras}]"]
    install("--constraint", str(lock), *own)


def install_interfaces(profile: str) -> bool:
    """Build message packages that are not available as wheels. Return whether ROS 2 is complete."""
    if not list(VENV.glob("lib/python3*/site-packages/rclpy")):
        report("the ROS 2 wheels are for x86-64 only: to run the node here, source a ROS 2")
        return False
    missing = missing_build_tools()
    if missing:
        report(
            f"cannot build tf2_msgs without {' and '.join(missing)}: no /tf, all else works;"
            f" on Debian or Ubuntu: sudo apt install {' '.join(missing.values())}"
        )
        return False
    source = ROOT / "interfaces"
    shared = [source / "rosidl_package.py", ROOT / "requirements" / "lock.txt"]
    for package in INTERFACES[profile]:
        own = (path for path in (source / package).rglob("*") if path.is_file())
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in [*shared, *sorted(own)]))
        marker = VENV / f"hrpsim-{package}"
        if marker.exists() and marker.read_text() == digest.hexdigest():
            continue
        report(f"building {package}, which no registry has")
        with tempfile.TemporaryDirectory() as folder:  # setuptools leaves its traces there
            copy = shutil.copytree(source, Path(folder, "interfaces"))
            install("--no-deps", "--no-build-isolation", "--reinstall", str(copy / package))
        marker.write_text(digest.hexdigest())
    return True


def missing_build_tools() -> dict[str, str]:
    """Return the missing tools to compile Python extensions, with the Debian package of each."""
    missing = {}
    compilers = [os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")]
    if not all(shutil.which(compiler.split()[0]) for compiler in compilers):
        missing["a C++ compiler"] = "g++"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        missing["Python.h"] = apt_name("dev")
    return missing


def check_sourced_ros(ros: str) -> bool:
    """Return whether the sourced ROS 2 has the message packages that hrpsim uses."""
    packages = ["diagnostic_msgs", "nav_msgs", "sensor_msgs", "tf2_msgs", "trajectory_msgs"]
    packages += ["visualization_msgs", "rosgraph_msgs", "std_srvs"]
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        names = " ".join(f"ros-{ros}-{name.replace('_', '-')}" for name in missing)
        report(f"the sourced ROS 2 has no {', '.join(missing)}: sudo apt install {names}")
    return not missing


def install(*arguments: str) -> None:
    """Install into .venv with uv. Print downloads and builds, but not each package."""
    # Like pip and apt, trust what this machine trusts: a proxy may have a certificate of its own.
    trust = ["--system-certs"] if ssl.create_default_context().get_ca_certs() else []
    command = [str(UV), "pip", "install", *trust, "--python", str(PYTHON), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if not DETAIL.match(line):
                print("       ", line, end="", file=sys.stderr, flush=True)
    if process.returncode:
        stop(f"installing {Path(arguments[-1]).name} failed. {AGAIN}")


def run(command: list[str], what: str, given: str = "") -> None:
    """Run a command and show its output. Exit with a message if the command fails."""
    if subprocess.run(command, cwd=ROOT, input=given, text=True, check=False).returncode:
        stop(f"{what} failed. {AGAIN}")


def apt_name(suffix: str) -> str:
    """Return the Debian package of this Python's venv or dev part, such as python3.11-venv."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}-{suffix}"


def report(message: str) -> None:
    """Print a progress line with the seconds since the start."""
    print(f"hrpsim: {time.monotonic() - STARTED:5.1f} s  {message}", flush=True)


def stop(message: str) -> None:
    """Exit with a message on standard error."""
    sys.exit(f"hrpsim: {message}")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in EXTRAS:
        stop("usage: python tools/setup_env.py demo|test STAMP (or simply: make setup)")
    main(*sys.argv[1:])
