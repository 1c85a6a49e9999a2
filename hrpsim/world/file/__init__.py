# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""World files: reading, schema, errors."""
