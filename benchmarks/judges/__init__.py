"""What the naturalness metrics are worth: the tables of docs/judges.md and docs/claim.md."""
