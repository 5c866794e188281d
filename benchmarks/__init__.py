"""Speed, measured as ratios to a yardstick in the same run, because machines are small and noisy."""
