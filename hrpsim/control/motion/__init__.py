"""Postures, sequences of motion, playback, standing up.

Imports framework/.
"""
