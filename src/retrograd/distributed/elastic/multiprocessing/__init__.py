"""The processes of a program that torchrun starts."""
