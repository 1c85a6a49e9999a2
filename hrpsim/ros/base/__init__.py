# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What every program of ours needs: parameters, polling, QoS, stamps, signals, faults."""
