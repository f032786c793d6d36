"""What the tests of all ops share: the cases, the known differences and the findings."""
