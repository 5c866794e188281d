"""The pages: the lab, in which experiments are built by hand, and what they share."""
