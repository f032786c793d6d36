"""What goes wrong around a program: threads that come at once, interrupts, forks."""
