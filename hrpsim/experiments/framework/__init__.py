"""What an experiment is, targets, reports, peers to compare with, and the runner."""
