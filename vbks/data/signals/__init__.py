"""What columns of data show before any fit: periods, segments, ranges and spacings."""
