"""What programs that torchrun starts take from here."""
