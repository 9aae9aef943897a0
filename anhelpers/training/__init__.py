"""Training the judges: a language model, a critic, and the combination of the two."""
