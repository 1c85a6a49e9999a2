# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of spheres, boxes, capsules, cylinders and planes, each pair by a closed form.

Imports compile and the kinds of shapes.
"""
