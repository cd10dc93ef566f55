"""Python files that a user names by their path: what is run is the text that stands there."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from types import CodeType


class UncachedLoader(SourceFileLoader):
    """Compiles a file each time it is loaded.

    Python's own cache takes a file of the same size and the same second for the same file: an edited check would grade
    by the code from before the edit, under the fingerprint of the new one.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)
