"""Feedback on the feet: estimation, stabiliser, detection of falls.

Imports pattern/ and below.
"""
