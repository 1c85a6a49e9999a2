# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What every room may import: errors, limits, values of texts, files. No room is imported here."""
