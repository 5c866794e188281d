"""Comparing algorithms: ours and every baseline, with published and with tuned constants, under the worst attacks."""
