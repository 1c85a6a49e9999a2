# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The experiments of the source documents and on real measurements, compared with other engines.

framework/ defines and runs experiments. studies/ has E1 to E14 and R1 to R4. scenes/ has scenes
that several experiments share. `hrpsim reproduce E7 E8` starts in framework/reproduce.py.
"""
