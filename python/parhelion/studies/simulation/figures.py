"""Latency and bandwidth of the simulated machine."""

from __future__ import annotations

from ..model import Parameters
from ..model.published import fit_published, published_rows

DEFAULT_FIGURES = "mpi_comm ompi"


def default_figures() -> Parameters:
    """The figures fitted to the published hand-written MPI under Open MPI: Betzy with 64 ranks a node, numbering XYZ."""
    return fit_published(published_rows())[DEFAULT_FIGURES].parameters
