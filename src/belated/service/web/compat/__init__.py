"""Routes of other products, for those who come from there."""
