"""The replicas compare outputs as the notebook tools do, which lie in another folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "notebooks"))
