"""What a controller is, the loop that runs it, plug-ins and pacing."""
