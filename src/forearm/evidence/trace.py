"""``trace.parquet``: a row a control tick."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from forearm.errors import ArtifactError, shown
from forearm.evidence.files import read_regular
from forearm.spatial import Array

TRACE = "trace.parquet"


def write_trace(folder: Path, columns: Mapping[str, Array], name: str = TRACE) -> None:
    """Write the columns; a half-written file never bears the name."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({column: pa.array(np.ascontiguousarray(values)) for column, values in columns.items()})
    temporary = folder / (name + ".tmp")
    parquet.write_table(table, temporary, compression="zstd")
    temporary.replace(folder / name)


def read_trace(folder: Path, name: str = TRACE) -> dict[str, Array]:
    """The columns of an artifact's trace; raises ``ArtifactError`` unless it is a table of numbers."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(read_regular(folder / name)))
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(folder, f"no readable {name}") from error
    columns = {column: table.column(column).to_numpy() for column in table.column_names}
    for column, values in columns.items():
        if values.dtype.kind not in "iuf":
            raise ArtifactError(folder, f"{name} holds something else than numbers in {shown(column)}")
    return columns
