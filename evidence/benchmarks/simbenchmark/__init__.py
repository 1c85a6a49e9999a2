# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scenes of SimBenchmark, rebuilt from their published parameters, for several engines.

Each engine runs in a separate process (`child`). `host` requests the error of a scene at a step
size by the published formula, and the processor time of a step. Engines that are not installed are
left out. If an engine cannot simulate a scene (`Unable`), the table gives the reason.
"""
