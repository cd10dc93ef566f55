"""Text optimisers side by side: one world with hidden effects, one simulated optimiser, one server, three systems.

The server stands on the loopback server of the tests, which is made importable here.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
