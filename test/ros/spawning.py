# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Requests to spawn, whatever release of simulation_interfaces is installed."""

from simulation_interfaces.srv import SpawnEntity

from hrpsim.ros.base.faults import resource_of


def spawn_request(text="", uri="", **fields):
    """Return a request for what a text or a URI describes."""
    request = SpawnEntity.Request(**fields)
    resource_of(request).uri, resource_of(request).resource_string = uri, text
    return request
