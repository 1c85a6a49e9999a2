"""What every program of ours needs: parameters, polling, QoS, stamps, signals, faults."""
