"""What data are like, with probabilities: cycles, trends, changes, swings, noise and inputs."""
