# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The formats of the HRP family: OpenHRP's VRML97 (.wrl) and Choreonoid's YAML (.body).

Offers `read_wrl` and `read_body`, which return a `RobotData`. Imports formats and urdf.
"""
