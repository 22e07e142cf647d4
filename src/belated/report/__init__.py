"""Figures of a comparison, and an HTML report about one or several comparisons.

Everything here reads a finished `belated.comparison.result.Comparison`; nothing is computed again,
but for the four figures of contexts, for which the first game is played once more.
Figures need matplotlib, which is imported only where a figure is drawn. The modules below go from
the outermost to the innermost, and each imports only modules further down.

- `page`: the whole HTML report, and what a notebook displays of a comparison
- `sections`: the section of a report about one comparison
- `captions`: the text below each figure, and its description for screen readers
- `figures`: the list of all figures, and saving them to files
- `regret_figures`, `arm_figures`, `weight_figures`: the six figures, two in each module
- `context_figures`, `context_captions`: the four figures of games with contexts, and their text
- `regret_scale`: linear axes, or logarithmic ones where regrets differ by decades
- `point_labels`: labels beside points, placed where they cover least
- `figure_parts`: an empty figure, its title, legend and axes
- `text_fitting`: the width of text, and text cut or wrapped to a width
- `svg`: figures as SVG files and as elements of a page
- `style`: sizes, colours, dashes, markers, fonts and matplotlib's settings
- `findings`: the result of a comparison in sentences
- `arms`: sums of the arms averaged over the games, and which arms to show
- `repetitions`: how to word that games or runs were repeated
- `references`: the errata that a page cites
- `reproduction`: how to make a comparison again
- `markup`: elements of HTML, with all text escaped
- `formatting`: numbers, names and lists as text
"""
