"""A testbed, run by `byzmab network`: real nodes on this machine, some of them lying, with an application for each."""
