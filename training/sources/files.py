"""Rounds from a file of gradients that may come from anywhere: .npy, .npz, .pt or .safetensors.

The array has shape (k, n, d), or (n, d) for one round. In a file with several arrays it is the one called vectors,
gradients, messages, updates or x, or the only one that is a matrix; ``honest`` beside it, a mask of the workers or
their numbers, says who is honest. Nothing in a file is executed: arrays of Python objects are refused, and a .pt file
is read by the unpickler of torch that builds tensors only. Rounds are read one at a time.
"""

from __future__ import annotations

import json
import math
import pickle
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.source import Source, StreamRound

NAMES = ("vectors", "gradients", "messages", "updates", "x")
HONEST = "honest"
MOST_HEADER = 16 << 20
MOST_ROUND = 4 << 30
"""Bytes that the vectors of one round may have."""
MOST_WORKERS = 1_000_000

Rows = Callable[[int, int], Iterator[NDArray[Any]]]
"""Items begin .. end - 1 of an array, one at a time."""


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its shape, and its items along the first axis."""

    shape: tuple[int, ...]
    rows: Rows

    def whole(self) -> NDArray[Any]:
        """All rounds of the file."""
        return np.array(list(self.rows(0, self.shape[0])))


@dataclass(frozen=True)
class File(Source):
    """The rounds of a file, n or m vectors each."""

    path: str
    given: tuple[int, ...] | None = None
    """Who is honest, if the user says so; else the file may."""
    n: int = 0
    key: str | None = None

    independent = False

    @property
    def label(self) -> str:
        """The name of the file, as it was given."""
        return self.path

    @property
    def workers(self) -> int:
        """How many vectors a round has."""
        return self._array.shape[-2]

    @property
    def dimension(self) -> int:
        """Coordinates of a vector."""
        return self._array.shape[-1]

    @property
    def complete(self) -> bool:
        """Whether there are n vectors."""
        return self.workers == self.n

    @property
    def length(self) -> int:
        """The first of three axes; a matrix is one round."""
        return self._array.shape[0] if len(self._array.shape) == 3 else 1

    @property
    def honest(self) -> tuple[int, ...] | None:
        """The places of the honest vectors; all of them if there are fewer than n, None if nobody says."""
        if self.given is not None:
            return self.given
        if self._honest is not None:
            return self._honest
        return None if self.complete else tuple(range(self.workers))

    @property
    def fingerprint(self) -> str:
        """Name, size and time of the file, and who is honest."""
        about = Path(self.path).stat()
        return f"{Path(self.path).resolve()} {about.st_size} {about.st_mtime_ns} {self.honest} {self.key} {self.n}"

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """One at a time; NaN is refused, and so is an infinite entry of an honest vector."""
        matrix = len(self._array.shape) == 2
        stream = iter([self._array.whole()]) if matrix else self._array.rows(begin, min(end, self.length))
        try:
            for number, vectors in enumerate(stream, begin):
                yield StreamRound(self._checked(vectors, number), self.honest)
        except _DAMAGE as error:
            raise InputError(f"{self.path} is damaged: {_reason(error)}") from None

    def _checked(self, vectors: NDArray[Any], number: int) -> NDArray[Any]:
        if vectors.dtype not in (np.float32, np.float64):
            vectors = vectors.astype(np.float32 if vectors.dtype == np.float16 else np.float64)
        finite = np.isfinite(vectors).all(axis=-1)
        if not finite.all():
            nan = np.flatnonzero(np.isnan(vectors).any(axis=-1))
            if len(nan):
                raise InputError(f"{self.path}: vector {nan[0]} of round {number} has NaN")
            wrong = [row for row in np.flatnonzero(~finite).tolist() if row in (self.honest or ())]
            if wrong:
                raise InputError(f"{self.path}: the honest vector {wrong[0]} of round {number} is infinite")
        return np.ascontiguousarray(vectors)

    @cached_property
    def _content(self) -> Mapping[str, StoredArray]:
        return content_of(Path(self.path))

    @cached_property
    def _array(self) -> StoredArray:
        name = self._chosen()
        shape = self._content[name].shape
        if len(shape) not in (2, 3) or 0 in shape:
            raise InputError(f"{self.path}: an array of shape (k, n, d) or (n, d) is needed, got {shape}")
        return self._content[name]

    def _chosen(self) -> str:
        names = [name for name in self._content if name != HONEST]
        if self.key is not None:
            if self.key not in names:
                raise InputError(f"{self.path} has no array {self.key!r}; it has {_listed(names)}")
            return self.key
        known = [name for name in NAMES if name in names]
        matrices = [name for name in names if len(self._content[name].shape) in (2, 3)]
        if known or len(matrices) == 1:
            return (known or matrices)[0]
        if len(names) == 1:
            return names[0]
        raise InputError(f"{self.path} has {_listed(names)}: which one holds the vectors? Say so with --key")

    @cached_property
    def _honest(self) -> tuple[int, ...] | None:
        if HONEST not in self._content:
            return None
        stored = self._content[HONEST]
        if len(stored.shape) != 1 or stored.shape[0] > MOST_WORKERS:
            raise InputError(f"{self.path}: honest must be a list of workers, got shape {stored.shape}")
        try:
            values = stored.whole()
        except _DAMAGE as error:
            raise InputError(f"{self.path} is damaged: {_reason(error)}") from None
        if values.dtype == bool or (
            len(values) == self.workers and set(values.tolist()) <= {0, 1} and self.workers > 2
        ):
            return tuple(np.flatnonzero(values).tolist())
        return tuple(int(value) for value in values.tolist())

    def __getstate__(self) -> dict[str, Any]:
        # other processes open the file themselves
        return {name: self.__dict__[name] for name in ("path", "given", "n", "key")}


def content_of(path: Path) -> Mapping[str, StoredArray]:
    """The arrays of a file by name, none of them read yet."""
    reader = READERS.get(path.suffix)
    if reader is None:
        raise InputError(f"{path}: vectors are read from {', '.join(READERS)} files")
    try:
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        return reader(path)
    except InputError:
        raise
    except _DAMAGE as error:
        raise InputError(f"{path} is no {path.suffix} file, or damaged: {_reason(error)}") from None


_DAMAGE = (
    *(
        OSError,
        ValueError,
        RuntimeError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        IndexError,
        NotImplementedError,
    ),
    *(pickle.UnpicklingError, zipfile.BadZipFile, zlib.error, struct.error, OverflowError, RecursionError, SyntaxError),
    *(TokenError, AssertionError, MemoryError, ImportError),
)
"""What reading a file that is not what it says may raise."""


def _reason(error: BaseException) -> str:
    lines = str(getattr(error, "strerror", None) or error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160]


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return (shown + ", ..." if len(names) > 8 else shown) or "no array"


def _require_numbers(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects, which are not read")
    if dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {dtype}, and not real numbers")
    if math.prod(shape[1:]) * dtype.itemsize > MOST_ROUND:
        raise ValueError(f"{name} has {math.prod(shape[1:])} numbers in one round")


def _mapped(name: str, array: NDArray[Any]) -> StoredArray:
    """An array that the system pages in as it is read."""
    _require_numbers(name, array.shape, array.dtype)

    def rows(begin: int, end: int) -> Iterator[NDArray[Any]]:
        for place in range(begin, end):
            yield np.array(array[place])

    return StoredArray(array.shape, rows)


def _read_npy(path: Path) -> Mapping[str, StoredArray]:
    return {"vectors": _mapped("the array", np.load(path, mmap_mode="r", allow_pickle=False))}


def _read_npz(path: Path) -> Mapping[str, StoredArray]:
    """Members of the archive, unpacked piece by piece as they are read."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as stream:
                    shape, order, dtype = _header(stream)
                short = name.removesuffix(".npy")
                _require_numbers(short, shape, dtype)
                found[short] = StoredArray(shape, _unpacked(path, name, shape, order, dtype))
    return found


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    return np.lib.format.read_array_header_2_0(stream)


def _unpacked(path: Path, name: str, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> Rows:
    size = math.prod(shape[1:]) * dtype.itemsize

    def rows(begin: int, end: int) -> Iterator[NDArray[Any]]:
        with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            _header(stream)
            if fortran and len(shape) > 1:
                whole = np.frombuffer(_exactly(stream, size * shape[0]), dtype=dtype).reshape(shape, order="F")
                yield from (np.array(row) for row in whole[begin:end])
                return
            for _ in range(begin):
                _exactly(stream, size)
            for _ in range(begin, end):
                yield np.frombuffer(_exactly(stream, size), dtype=dtype).reshape(shape[1:])

    return rows


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) != size:
        raise EOFError("it ends too early")
    return content


def _read_torch(path: Path) -> Mapping[str, StoredArray]:
    try:
        import torch
    except ImportError:
        raise InputError(f"reading {path} needs torch: pip install 'kappaguard[train]'") from None
    zipped = zipfile.is_zipfile(path)
    try:
        with warnings.catch_warnings():
            # an old or foreign pickle is refused or read: either way its protocol is no news
            warnings.simplefilter("ignore")
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipped or None)
    except pickle.UnpicklingError:
        raise ValueError("it holds more than tensors, or is cut off, and was not executed") from None
    if isinstance(content, list | tuple) and content and all(isinstance(each, torch.Tensor) for each in content):
        content = torch.stack(list(content))
    tensors = content if isinstance(content, dict) else {"vectors": content}
    found = {}
    for name, value in tensors.items():
        if isinstance(value, torch.Tensor):
            if value.is_sparse or value.is_quantized or value.is_complex():
                raise ValueError(f"{name} is no plain tensor of real numbers")
            tensor = value.detach()
            tensor = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
            found[str(name)] = _mapped(str(name), tensor.numpy())
    if not found:
        raise ValueError("it holds no tensor")
    return found


_SAFETENSORS = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"},
    **{"U8": "|u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "|b1", "BF16": "<u2"},
}


def _read_safetensors(path: Path) -> Mapping[str, StoredArray]:
    """Eight bytes with the length of a JSON header, the header, and the numbers (huggingface.co/docs/safetensors)."""
    total = path.stat().st_size
    with path.open("rb") as stream:
        (size,) = struct.unpack("<Q", _exactly(stream, 8))
        if size > min(MOST_HEADER, total):
            raise ValueError("its header is longer than the file, or than any header")
        header = json.loads(_exactly(stream, size).decode("utf-8"))
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        if kind not in _SAFETENSORS:
            raise ValueError(f"{name} holds {str(kind)[:20]}, which is not read")
        if not all(isinstance(each, int) and each >= 0 for each in (*shape, begin, end)):
            raise ValueError(f"the shape or the place of {name} is no list of numbers")
        dtype = np.dtype(_SAFETENSORS[kind])
        if end - begin != math.prod(shape) * dtype.itemsize or 8 + size + end > total:
            raise ValueError(f"{name} ends too early")
        if math.prod(shape) == 0:
            raise ValueError(f"{name} is empty")
        array: NDArray[Any] = np.memmap(path, dtype=dtype, mode="r", offset=8 + size + begin, shape=shape or (1,))
        found[name] = _widened(name, array) if kind == "BF16" else _mapped(name, array)
    return found


def _widened(name: str, array: NDArray[Any]) -> StoredArray:
    """bfloat16: the upper half of a float32."""
    plain = _mapped(name, array)

    def rows(begin: int, end: int) -> Iterator[NDArray[Any]]:
        for row in plain.rows(begin, end):
            yield (row.astype(np.uint32) << 16).view(np.float32)

    return StoredArray(plain.shape, rows)


READERS: dict[str, Callable[[Path], Mapping[str, StoredArray]]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".pt": _read_torch,
    ".safetensors": _read_safetensors,
}
