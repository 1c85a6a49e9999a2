"""Recorder of topics and analyser of motions.

Imports base/ and hrpsim.bag.
"""
