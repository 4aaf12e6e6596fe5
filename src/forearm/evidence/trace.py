"""``trace.parquet``: a row a control tick."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from forearm.errors import ArtifactError
from forearm.evidence.files import read_regular
from forearm.spatial import Array

TRACE = "trace.parquet"


def write_trace(folder: Path, columns: Mapping[str, Array]) -> None:
    """Write the columns; a half-written file never bears the name."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({name: pa.array(np.ascontiguousarray(values)) for name, values in columns.items()})
    temporary = folder / (TRACE + ".tmp")
    parquet.write_table(table, temporary, compression="zstd")
    temporary.replace(folder / TRACE)


def read_trace(folder: Path) -> dict[str, Array]:
    """The columns of an artifact's trace; raises ``ArtifactError`` if there is none to read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(read_regular(folder / TRACE)))
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(folder, f"no readable {TRACE}") from error
    return {name: table.column(name).to_numpy() for name in table.column_names}
