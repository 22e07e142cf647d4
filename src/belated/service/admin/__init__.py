"""What an administrator does: arms, keys, export, verification."""
