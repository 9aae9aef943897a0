"""Do judges of naturalness agree with readers and with each other, and does the ranking of systems survive another one?

A judge is any metric that scores the naturalness of a text. `texts` puts a data set before some of them, `figures` has
each number with its interval, `table` all of them as tidy rows, `gates` what is wanted of the bundled judges, and
`page` writes it in Markdown.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
