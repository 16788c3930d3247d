"""Where the files of a data set are: a folder of the user's, or the cache, into which they are downloaded once."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from kappaguard.rules.base.errors import InputError

VARIABLE = "KAPPAGUARD_DATA"


@dataclass(frozen=True)
class DataFile:
    """One file: its name when unpacked, the SHA-256 of that content, and where it can be downloaded.

    ``archive`` is the hash of a packed collection of files that the address leads to, if it does not lead to the file.
    """

    name: str
    digest: str | None
    address: str
    archive: str | None = None


def folder_of(data_dir: str | Path | None) -> Path | None:
    """The user's own folder: the one given, else the one of the environment variable."""
    chosen = data_dir or os.environ.get(VARIABLE)
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise InputError(f"there is no data folder {folder}")
    return folder


def content_of(source: DataFile, dataset: str, data_dir: str | Path | None) -> bytes:
    """The unpacked content of a file, checked."""
    folder = folder_of(data_dir)
    path = _downloaded(source, dataset) if folder is None else _found(source.name, dataset, folder)
    content = _read(path)
    if source.digest is not None and hashlib.sha256(content).hexdigest() != source.digest:
        raise InputError(f"{path} is damaged: its SHA-256 is not the one of {dataset}/{source.name}")
    return content


def is_there(source: DataFile, dataset: str, data_dir: str | Path | None) -> bool:
    """Whether the user's folder has the file; without such a folder it can be downloaded."""
    folder = folder_of(data_dir)
    return folder is None or any(path.is_file() for path in _places(source.name, dataset, folder))


def _places(name: str, dataset: str, folder: Path) -> list[Path]:
    return [place / (name + ending) for place in (folder / dataset, folder) for ending in ("", ".gz")]


def _found(name: str, dataset: str, folder: Path) -> Path:
    for path in _places(name, dataset, folder):
        if path.is_file():
            return path
    raise InputError(f"{folder} has no {dataset}/{name} (or {name}.gz): put it there, or choose another --data-dir")


def _read(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _downloaded(source: DataFile, dataset: str) -> Path:
    """The file in the user's cache; downloaded if it is not there yet."""
    import pooch

    cache = Path(pooch.os_cache("kappaguard")) / dataset
    pooch.get_logger().setLevel("WARNING")
    packed = source.address.rpartition("/")[2]
    try:
        if source.archive is None:
            return Path(pooch.retrieve(source.address, known_hash=None, fname=packed, path=cache))
        unpack = pooch.Untar(extract_dir=".")
        paths = pooch.retrieve(source.address, known_hash=source.archive, fname=packed, path=cache, processor=unpack)
    except Exception as error:
        raise InputError(
            f"{dataset} is not here and cannot be downloaded from {source.address} ({type(error).__name__}): "
            f"name a folder that has it with --data-dir or {VARIABLE}, or use --dataset digits, which needs none"
        ) from None
    return next(Path(path) for path in paths if Path(path).name == source.name)
