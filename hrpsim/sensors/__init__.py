"""What simulated sensors read."""
