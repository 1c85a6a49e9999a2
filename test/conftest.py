"""Settings that every test runs under."""

import os

from hypothesis import settings

from hrpsim.ros.base.domain import PrivateDomain

# Each worker of each test run talks ROS to itself only: on this machine, and in a domain that is
# held while it runs, so that neither another run nor a demonstration of a test's own gets it.
_domain = PrivateDomain()
os.environ.update(_domain.environment())

# Tests decide the same each day; new examples are for `make fuzz`, or asked for with
# `--hypothesis-profile default`.
settings.register_profile("hrpsim", derandomize=True, deadline=None)
settings.load_profile("hrpsim")
