"""The published JSON schema of a record line, generated from the types that read it.

`python -m parhelion.record.schema > docs/record.schema.json` writes it anew.
"""

from typing import Any

import msgspec

from .model import Line, SCHEMA


def record_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of each line of a record."""
    schema = msgspec.json.schema(Line)
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}
    return {**title, "description": "Each line of record.jsonl is one of these objects.", **schema}


def schema_text() -> str:
    """The schema as it is published."""
    return msgspec.json.format(msgspec.json.encode(record_schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
