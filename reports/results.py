"""results.json: everything that a report shows, with a versioned schema, validated when read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import write

NAME = "results.json"
MOST_BYTES = 64 << 20


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON schema that results.json follows."""
    text = files("kappaguard.reports").joinpath("templates/results.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def validate(results: Mapping[str, Any], part: str | None = None) -> None:
    """InputError that names the place if something is wrong; ``part`` names a definition of the schema."""
    from jsonschema import Draft202012Validator

    wanted = schema() if part is None else {"$ref": f"#/$defs/{part}", "$defs": schema()["$defs"]}
    errors = sorted(Draft202012Validator(wanted).iter_errors(results), key=lambda each: each.json_path)
    if errors:
        raise InputError(f"the results are damaged at {errors[0].json_path}: {errors[0].message[:200]}")


def save_part(stored: Mapping[str, Any], part: str, where: Path) -> Path:
    """Write a part of the results to a file of its own."""
    validate(stored, part)
    write(where, json.dumps(stored, indent=1, allow_nan=False) + "\n")
    return where


def read_part(part: str, name: str, path: Path) -> dict[str, Any]:
    """A part of the results in a file, or in the file of that name in a folder."""
    stored = read_json(path / name if path.is_dir() else path)
    validate(stored, part)
    return stored


def read(path: Path) -> dict[str, Any]:
    """The results in a file, or in the file results.json of a folder."""
    results = read_json(path / NAME if path.is_dir() else path)
    validate(results)
    return results


def read_json(where: Path) -> dict[str, Any]:
    """The object in a JSON file that somebody else may have written."""
    try:
        if where.stat().st_size > MOST_BYTES:
            raise InputError(f"{where} is larger than the {MOST_BYTES} bytes that results may have")
        results = json.loads(where.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {where}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where} is not JSON") from None
    if not isinstance(results, dict):
        raise InputError(f"{where} does not hold results")
    return results


def save(results: Mapping[str, Any], folder: Path) -> Path:
    """Write the results into the folder, as results.json."""
    validate(results)
    write(folder / NAME, json.dumps(results, indent=1, allow_nan=False) + "\n")
    return folder / NAME
