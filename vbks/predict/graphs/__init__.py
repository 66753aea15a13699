"""The same average as graphs of TensorFlow: for gradients, and for export."""

__all__: list[str] = []
