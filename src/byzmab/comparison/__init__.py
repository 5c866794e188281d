"""Comparing algorithms: ours and every algorithm, with published and with tuned constants, under the worst attacks."""
