# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import socket

from hrpsim.ros.base.domain import PrivateDomain


def test_domains_do_not_collide():
    domains = [PrivateDomain() for _ in range(5)]
    ids = {domain.domain_id for domain in domains}
    for domain in domains:
        domain.release()
    assert len(ids) == 5
    assert all(1 <= number <= 101 for number in ids)


def test_a_domain_in_use_by_others_is_passed_over():
    with PrivateDomain() as domain:
        first = domain.domain_id
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("0.0.0.0", 7400 + 250 * first + 10))
        with PrivateDomain() as domain:
            assert domain.domain_id != first


def test_environment_stays_on_this_machine():
    with PrivateDomain() as domain:
        environment = domain.environment()
    assert environment["ROS_DOMAIN_ID"] == str(domain.domain_id)
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert "PATH" in environment
