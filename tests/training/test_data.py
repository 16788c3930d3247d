"""Readers of the original formats, what they refuse, and the splits."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from kappaguard.reports.experiments.split import picture
from kappaguard.rules.base.errors import InputError
from kappaguard.training.data import catalogue, files
from kappaguard.training.data.catalogue import load
from kappaguard.training.data.cifar import parse_cifar
from kappaguard.training.data.files import DataFile, content_of
from kappaguard.training.data.idx import parse_idx
from kappaguard.training.data.split import counts, split

DATA = os.environ.get("KAPPAGUARD_DATA")


def idx(array: np.ndarray) -> bytes:
    return struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def test_idx_is_read_as_it_is_defined():
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(parse_idx(idx(array), "file"), array)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\x08", b"\0\0\x0d\x01\0\0\0\x01\0", idx(np.zeros(5, dtype=np.uint8))[:-1], b"\0\0\x08\x03\0\0"],
)
def test_a_damaged_idx_file_is_refused(content):
    with pytest.raises(InputError, match="file"):
        parse_idx(content, "file")


def test_cifar_records_are_a_label_and_three_planes():
    record = bytes([7]) + bytes(range(256)) * 12
    images, labels = parse_cifar(record * 2, "batch")
    assert images.shape == (2, 3, 32, 32)
    assert labels.tolist() == [7, 7]
    assert images[1, 0, 0, :3].tolist() == [0, 1, 2]
    for content in (b"", record[:-1], bytes([10]) + record[1:]):
        with pytest.raises(InputError, match="batch"):
            parse_cifar(content, "batch")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("nested", [True, False])
def test_files_are_found_packed_or_not_and_checked(tmp_path, packed, nested):
    content = b"some content"
    digest = "290f493c44f5d63d06b374d0a5abd292fae38b92cab2fae5efefe1b0e9347f56"
    folder = tmp_path / "set" if nested else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / ("name.gz" if packed else "name")).write_bytes(gzip.compress(content) if packed else content)
    assert content_of(DataFile("name", digest, ""), "set", tmp_path) == content
    with pytest.raises(InputError, match="damaged"):
        content_of(DataFile("name", "0" * 64, ""), "set", tmp_path)
    with pytest.raises(InputError, match="has no set/other"):
        content_of(DataFile("other", digest, ""), "set", tmp_path)


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    (tmp_path / "name.gz").write_bytes(gzip.compress(b"content" * 100)[:-12])
    with pytest.raises(InputError, match="cannot read"):
        content_of(DataFile("name", None, ""), "set", tmp_path)


def test_without_a_network_the_way_out_is_named(monkeypatch):
    import pooch

    def fail(*_, **__):
        raise OSError("no network")

    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(pooch, "retrieve", fail)
    with pytest.raises(InputError, match=r"--data-dir or KAPPAGUARD_DATA.*--dataset digits"):
        load("mnist")


def test_the_environment_names_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(InputError, match="no data folder"):
        load("mnist")


def test_a_data_set_of_another_name_is_refused():
    with pytest.raises(InputError, match="digits, mnist"):
        load("svhn")


def test_digits_need_no_download(monkeypatch):
    monkeypatch.delenv(files.VARIABLE, raising=False)
    data = load("digits")
    assert len(data.labels) + len(data.test_labels) == 1797
    assert data.images.shape[1:] == (1, 8, 8)
    assert 0 <= data.images.min() < data.images.max() == 1


@pytest.mark.skipif(DATA is None, reason="KAPPAGUARD_DATA names no folder with the data sets")
@pytest.mark.parametrize(
    ("name", "images", "shape"),
    [("mnist", 60_000, (1, 28, 28)), ("fashion-mnist", 120_000, (1, 28, 28)), ("cifar-10", 10_000, (3, 32, 32))],
)
def test_the_real_data_is_read_and_prepared_as_in_the_paper(name, images, shape):
    data = load(name, DATA)
    assert len(data.labels) % images == 0
    assert data.shape == shape
    assert len(data.test_labels) == 10_000
    assert set(np.unique(data.labels)) == set(range(10))
    if name == "mnist":
        assert abs(data.images.mean()) < 1e-3
        assert data.images.std() == pytest.approx(1, abs=1e-3)
        assert data.labels[:5].tolist() == [5, 0, 4, 1, 9]
    if name == "fashion-mnist":
        assert np.array_equal(data.images[60_000], data.images[0, :, :, ::-1])
    assert data.flips == (name == "cifar-10")


LABELS = np.random.default_rng(0).integers(0, 10, 2000)


@pytest.mark.parametrize("kind", ["dirichlet", "iid", "extreme"])
@pytest.mark.parametrize(("workers", "alpha"), [(13, 0.1), (13, 1e-3), (4, 10.0), (60, 0.05), (1, 1.0)])
def test_every_sample_goes_to_one_worker_and_none_is_empty(kind, workers, alpha):
    shards = split(kind, LABELS, workers, alpha, seed=3)
    assert len(shards) == workers
    assert all(len(shard) for shard in shards)
    assert np.array_equal(np.sort(np.concatenate(shards)), np.arange(len(LABELS)))
    again = split(kind, LABELS, workers, alpha, seed=3)
    assert all(np.array_equal(one, other) for one, other in zip(shards, again, strict=True))


def test_alpha_is_the_heterogeneity():
    def unevenness(alpha: float) -> float:
        table = counts(split("dirichlet", LABELS, 10, alpha, seed=1), LABELS, 10)
        return float((table / table.sum(axis=1, keepdims=True)).max(axis=1).mean())

    assert unevenness(0.1) > unevenness(1.0) > unevenness(10.0) > 0.1
    assert unevenness(10.0) < 0.3


def test_extreme_gives_one_class_to_every_worker():
    table = counts(split("extreme", LABELS, 13, 1.0, seed=1), LABELS, 10)
    assert np.all((table > 0).sum(axis=1) == 1)
    assert np.all((table > 0).sum(axis=0) >= 1)


@pytest.mark.parametrize(
    ("kind", "workers", "alpha"), [("dirichlet", 0, 1.0), ("iid", 2001, 1.0), ("dirichlet", 5, 0.0), ("x", 5, 1.0)]
)
def test_an_impossible_split_is_refused(kind, workers, alpha):
    with pytest.raises(InputError):
        split(kind, LABELS, workers, alpha, seed=0)


def test_the_picture_has_a_circle_per_worker_and_class_by_area():
    table = np.array([[4, 0], [1, 1]])
    drawn = picture(table, "a < b")
    assert drawn.count("<circle") == 3
    assert "a &lt; b" in drawn
    radii = sorted(float(part.split('"')[0]) for part in drawn.split(' r="')[1:])
    assert radii[2] == pytest.approx(2 * radii[0], rel=1e-2)


def test_every_file_that_is_downloaded_has_a_checksum():
    assert all(len(digest) == 64 for digests in catalogue._DIGESTS.values() for digest in digests)
    assert len(set(catalogue._CIFAR_DIGESTS.values())) == 6
    assert all(len(digest) == 64 for digest in catalogue._CIFAR_DIGESTS.values())


@pytest.mark.skipif(DATA is None, reason="KAPPAGUARD_DATA names no folder with the data sets")
@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_a_training_batch_of_cifar_with_other_content_is_refused(tmp_path, number):
    """Of the right format: ten labels and planes."""
    for name in ("data_batch_1.bin.gz", "test_batch.bin.gz"):
        (tmp_path / name).symlink_to(Path(DATA or "") / "cifar-10" / name)
    (tmp_path / f"data_batch_{number}.bin").write_bytes(bytes(10 * 3073))
    with pytest.raises(InputError, match=rf"data_batch_{number}\.bin is damaged"):
        load("cifar-10", tmp_path)
