"""The pages: the lab, the page of a node, the overview of a testbed, and what they share."""
