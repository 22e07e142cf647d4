"""What a comparison looks like: figures, and one page to show to others."""
