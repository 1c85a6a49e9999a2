# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parts of the viewer's panel, one a file. Each part acts on the world by public methods."""
