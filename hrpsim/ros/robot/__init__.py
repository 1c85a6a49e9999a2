# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics of one robot: commands in, joint states, wrenches, transforms and sensors out."""
