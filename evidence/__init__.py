# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Evidence for hrpsim: experiments with known answers, timings next to other engines, and a game.

experiments/ has the experiments of the source documents, benchmarks/ the timings, crane/ the game.
In these folders, "our" means hrpsim's.
"""
