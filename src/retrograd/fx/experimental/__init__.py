"""What PyTorch offers for trial."""
