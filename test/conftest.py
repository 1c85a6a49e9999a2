"""Settings that every test runs under."""

import os

# Each worker of each test run talks ROS to itself only: on this machine, and in a domain of its own
# (0 to 101 are the domains whose ports are free on Linux; 0 is left to people).
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
os.environ["ROS_DOMAIN_ID"] = str(1 + (_run * 7 + _worker) % 101)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
