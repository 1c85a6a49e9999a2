"""World files: reading, their schema, their errors."""
