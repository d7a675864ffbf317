"""What a record tells, worked out once for every output: results per case and contender, remarks, the document of --json.

`figures` names what is told of a timing, for documents and reports alike. Nothing here prints or draws: that is for `tables` and
`reporting`. Numbers without a record belong to `statistics`.
"""

from .results import CaseResult, Entry, results

__all__ = ["CaseResult", "Entry", "results"]
