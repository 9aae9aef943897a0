"""Charts: each takes plain arrays or a tidy frame and returns an Altair chart; nothing is enabled on import."""
