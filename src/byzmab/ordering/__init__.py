"""Reports ordered once for all receivers: for the dense path, and for attacks that look ahead."""
