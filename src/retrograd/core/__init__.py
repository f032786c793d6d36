"""The engine: tensors, declared ops, the general call, the graph and the backward pass."""
