"""The docs as a site: what MkDocs needs beside the pages themselves (`make docs`).

It runs from a clone and is not installed. `mkdocs.yml` is the configuration.

- `hooks`: what MkDocs calls while it builds the site
- `repository_links`: links that leave docs/ get a page in the site
- `reference`: the reference of the library, from its docstrings
- `plain_angles`: angle brackets of formulas are text, not tags
- `formulas`: TeX as MathML, which browsers draw without a script
- `notebooks`: notebooks as pages
- `execution`: notebooks executed again (`make figures`)
"""
