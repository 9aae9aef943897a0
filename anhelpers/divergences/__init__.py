"""How far a system's output distribution q is from the reference r: exact on finite spaces, estimated from samples."""
