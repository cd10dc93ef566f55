"""Generated sites: pages as the web has them around the parts of a task."""

from whet.envs.soup.site.lexicon import Lexicon
from whet.envs.soup.site.look import Look
from whet.envs.soup.site.site import Site, Size, site
from whet.envs.soup.site.vocabulary import HALVES, Half

__all__ = ["HALVES", "Half", "Lexicon", "Look", "Site", "Size", "site"]
