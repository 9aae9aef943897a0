"""Speed as ratios to reference programs, measured side by side in one run, with agreement in the same row."""
