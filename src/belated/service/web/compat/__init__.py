"""Routes with the paths and bodies of other products, for users who come from there.

- `personalizer`: Rank and Reward of Azure Personalizer
"""
