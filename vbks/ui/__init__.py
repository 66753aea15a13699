"""What people see without Python: the command line, its tables, the demonstration."""

__all__: list[str] = []
