"""One agent, pure and compiled: reports, beliefs, filters, policies. numpy and numba only."""
