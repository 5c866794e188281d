"""The paper's theorems as numbers: bounds, conditions, probabilities."""
