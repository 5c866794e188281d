"""The lab: a page on which experiments are built, played, compared and looked into round by round."""
