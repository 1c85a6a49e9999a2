"""The experiments of the source documents, each beside theory and other engines.

`hrpsim reproduce E7 E8` runs them. An experiment is one file here, e07_stopping.py for E7, that
defines `EXPERIMENT` (see experiment.py); there is nothing to register.
"""
