# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tabs of the viewer's panel, one in each file. A tab uses only public methods of the world."""
