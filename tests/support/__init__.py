"""What tests share: rows, fits made by hand, executors, naive twins, strategies of hypothesis."""
