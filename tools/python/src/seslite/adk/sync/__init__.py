"""Copies sessions between a store and any session service of google-adk, or between two of these:

    python -m seslite.adk.sync FROM TO --app my_app

`opened` makes a side of a URI, `Side` and `StoreSide` one of a service that is open. `Sync(source,
target).run()` is one pass.
"""

from .pace import GaveUp, Pace
from .report import Report
from .run import Sync
from .sides import Side, StoreSide, VertexSide, opened, side_of

__all__ = ["GaveUp", "Pace", "Report", "Side", "StoreSide", "Sync", "VertexSide", "opened", "side_of"]
