"""Generated sites: pages as the web has them, around the parts of a task.

`site(seed, half)` is a site with habits of its own. `SoupSite.page(...)` writes a page around given parts: chrome that
all pages of the site share, fresh filler, code and state, 100 to 500 kB of it where the page is large.

What filler guarantees, so that no task becomes ambiguous:

* It is closed in itself. A part stands at the level of a `div`, in no paragraph, link, table, form or list, and
  `html.parser`, `lxml` and `html5lib` see it alike, on damaged pages too. A part must be closed in itself as well.
* It has no class `look.key(role)` and no id `look.ident(role)` of any role that does not begin with `~`.
* It has no `h1`, no JSON-LD but `WebSite`, no item type but `BreadcrumbList` and `ListItem`.
* It has no person, company or product that `site.words` can draw: surnames, firms and kinds of product are dealt out
  between tasks and filler, for each site anew.
* It says none of the words of `RESERVED` (price, shipping, total ...), in text, JSON and attributes.

What filler does have, as real pages do: amounts that nothing names, dates, persons, product names, tables (with spans),
lists, forms, images, links, JSON state, microdata, comments, scripts, ids that stand twice. A random token that a task
draws (ten hexadecimal digits or more) is in filler by no more than chance.
"""

from whet.envs.soup.site.lexicon import SoupWords
from whet.envs.soup.site.look import Look
from whet.envs.soup.site.reserved import RESERVED
from whet.envs.soup.site.sites import Size, SoupSite, site
from whet.envs.soup.site.vocabulary import HALVES, Half

__all__ = ["HALVES", "RESERVED", "Half", "Look", "Size", "SoupSite", "SoupWords", "site"]
