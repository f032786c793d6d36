"""Declarations of every form that an op may have, and the code that is expected to be made of them.

A fast path that is not taken, or not written, gives the same results by the general path: only its
text shows whether it is there. So the text is kept, a file for each declaration, for people to read
and for `test_generated_text.py` to compare. ``python -m tests.generated`` writes it anew after the
emitters have been changed on purpose; what it changes is then to be read like any other change.
"""
