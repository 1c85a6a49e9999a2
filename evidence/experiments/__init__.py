# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The experiments of the source documents and on real measurements, compared with other engines.

framework/ says what an experiment is and runs it, studies/ has E1 to E14, R1
to R4, scenes/ what they share.
`hrpsim reproduce E7 E8` begins in framework/reproduce.py.
"""
