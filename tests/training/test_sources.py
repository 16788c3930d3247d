"""Sources: the same rounds in any order, files of every kind, and files that are not what they say."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kappaguard.rules.base.errors import InputError
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.distributed.run import run_distributed
from kappaguard.training.folder import Folder
from kappaguard.training.run import run
from kappaguard.training.sources.files import File
from kappaguard.training.sources.folder import Messages
from kappaguard.training.sources.names import source_named

N, F = 9, 2
X = np.random.default_rng(0).standard_normal((5, N, 4))


def safetensors(path, arrays, kinds=None):
    """Written by hand, as the format's documentation says."""
    header, content = {}, b""
    for name, array in arrays.items():
        kind = (kinds or {}).get(name) or {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "b1": "BOOL"}[
            array.dtype.str[1:]
        ]
        data = array.tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(content), len(content) + len(data)],
        }
        content += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


def written(folder, kind, x=X):
    path = folder / f"gradients.{kind}"
    match kind:
        case "npy":
            np.save(path, x)
        case "npz":
            np.savez_compressed(path, gradients=x, other=np.zeros(3))
        case "pt":
            torch.save({"gradients": torch.from_numpy(x), "about": 3}, path)
        case "safetensors":
            safetensors(path, {"gradients": x, "other": np.zeros(3)})
    return path


@pytest.mark.parametrize("kind", ["npy", "npz", "pt", "safetensors"])
def test_files_of_all_kinds(tmp_path, kind):
    source = File(str(written(tmp_path, kind)), n=N)
    assert (source.workers, source.dimension, source.length, source.complete) == (N, 4, 5, True)
    assert source.honest is None
    assert np.array([each.vectors for each in source.rounds(0, 5)]) == pytest.approx(X)
    assert np.array([each.vectors for each in source.rounds(3, 99)]) == pytest.approx(X[3:])
    single = File(str(written(tmp_path, kind, X[0])), n=N)
    assert single.length == 1
    assert [each.vectors.shape for each in single.rounds(0, 1)] == [(N, 4)]
    fewer = File(str(written(tmp_path, kind, X[:, : N - F])), n=N)
    assert (fewer.complete, fewer.honest) == (False, tuple(range(N - F)))
    assert pickle.loads(pickle.dumps(fewer)).fingerprint == fewer.fingerprint


@pytest.mark.parametrize("honest", [np.arange(1, 8), np.arange(N) < 7, (np.arange(N) > 1).astype(np.int64)])
def test_a_file_may_say_who_is_honest(tmp_path, honest):
    expected = tuple(np.flatnonzero(honest).tolist()) if len(honest) == N else tuple(honest.tolist())
    np.savez(tmp_path / "a.npz", x=X, honest=honest)
    assert File(str(tmp_path / "a.npz"), n=N).honest == expected
    torch.save({"x": torch.from_numpy(X), "honest": torch.from_numpy(honest)}, tmp_path / "a.pt")
    assert File(str(tmp_path / "a.pt"), n=N).honest == expected
    assert File(str(tmp_path / "a.pt"), given=(0, 1), n=N).honest == (0, 1)


def test_other_types_of_numbers(tmp_path):
    np.save(tmp_path / "half.npy", X.astype(np.float16))
    (first, *_) = File(str(tmp_path / "half.npy"), n=N).rounds(0, 1)
    assert first.vectors.dtype == np.float32
    np.save(tmp_path / "whole.npy", np.arange(N * 4).reshape(1, N, 4))
    (first,) = File(str(tmp_path / "whole.npy"), n=N).rounds(0, 1)
    assert first.vectors.dtype == np.float64
    np.save(tmp_path / "order.npy", np.asfortranarray(X))
    np.savez(tmp_path / "order.npz", np.asfortranarray(X))
    for name in ("order.npy", "order.npz"):
        assert np.array([each.vectors for each in File(str(tmp_path / name), n=N).rounds(1, 3)]) == pytest.approx(
            X[1:3]
        )
    brain = torch.from_numpy(X).bfloat16()
    torch.save(brain, tmp_path / "brain.pt")
    safetensors(tmp_path / "brain.safetensors", {"x": brain.view(torch.int16).numpy().view(np.uint16)}, {"x": "BF16"})
    for name in ("brain.pt", "brain.safetensors"):
        rounds = np.array([each.vectors for each in File(str(tmp_path / name), n=N).rounds(0, 5)])
        assert np.array_equal(rounds, brain.float().numpy())


def test_files_that_the_library_of_the_format_wrote(tmp_path):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    library.save_file({"gradients": X}, str(tmp_path / "a.safetensors"))
    assert np.array(
        [each.vectors for each in File(str(tmp_path / "a.safetensors"), n=N).rounds(0, 5)]
    ) == pytest.approx(X)


def test_rounds_are_read_one_at_a_time(tmp_path):
    """A file much larger than what one round may take of memory."""
    import tracemalloc

    big = np.zeros((400, N, 1000))
    np.savez_compressed(tmp_path / "big.npz", big)
    np.save(tmp_path / "big.npy", big)
    del big
    for name in ("big.npz", "big.npy"):
        tracemalloc.start()
        assert sum(1 for _ in File(str(tmp_path / name), n=N).rounds(0, 400)) == 400
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 3e6


class Nasty:
    def __reduce__(self):
        return os.system, ("touch executed",)


def damage(path, keep):
    path.write_bytes(path.read_bytes()[:keep])


@pytest.mark.parametrize("kind", ["npy", "npz", "pt", "safetensors"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.98])
def test_truncated_files_are_refused_in_one_line(tmp_path, kind, share):
    path = written(tmp_path, kind)
    damage(path, int(share * path.stat().st_size))
    with pytest.raises(InputError) as refused:
        list(File(str(path), n=N).rounds(0, 5))
    assert len(str(refused.value).splitlines()) == 1


def test_nothing_in_a_file_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nasty = np.empty((2, 2), dtype=object)
    nasty[:] = [[Nasty(), 1], [1, 1]]
    np.save("a.npy", nasty, allow_pickle=True)
    np.savez("a.npz", x=nasty)
    torch.save({"x": Nasty()}, "a.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Nasty()))
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Nasty()))
    (tmp_path / "a.safetensors").write_bytes(pickle.dumps(Nasty()))
    for name in ("a.npy", "a.npz", "a.pt", "plain.pt", "plain.npy", "a.safetensors"):
        with pytest.raises(InputError):
            list(File(name, n=N).rounds(0, 1))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.npy", np.full((1, N, 2), np.nan), "vector 0 of round 0 has NaN"),
        ("a.npy", np.zeros(4), "shape"),
        ("a.npy", np.zeros((1, 2, 3, 4)), "shape"),
        ("a.npy", np.zeros((0, N, 4)), "shape"),
        ("a.npy", np.zeros((1, N, 2), dtype=complex), "real numbers"),
        ("a.npy", np.array([["a"] * 3] * N), "real numbers"),
        ("a.npz", {"a": X, "b": X}, "--key"),
        ("a.npz", {}, "no array"),
        ("a.npz", {"x": X, "honest": np.zeros((2, 2), dtype=int)}, "honest"),
        ("a.txt", b"1 2 3", "read from"),
        ("a.safetensors", struct.pack("<Q", 1 << 60) + b"{}", "header"),
        ("a.safetensors", struct.pack("<Q", 2) + b"[]", "header"),
        (
            "a.safetensors",
            struct.pack("<Q", 62) + b'{"x":{"dtype":"F32","shape":[9,1000],"data_offsets":[0,36000]}}'[:62],
            "damaged",
        ),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(path, **content)
    else:
        np.save(path, content)
    with pytest.raises(InputError, match=words):
        list(File(str(path), n=N).rounds(0, 1))


def test_a_shape_that_does_not_fit_its_file(tmp_path):
    """A header of a safetensors file that promises more than there is, or less."""
    for shape, offsets in (([9, 1000], [0, 36_000]), ([9, 4], [0, 100]), ([9, -4], [0, 144]), ([2**40, 2**40], [0, 8])):
        text = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}).encode()
        (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(144))
        with pytest.raises(InputError):
            list(File(str(tmp_path / "a.safetensors"), n=N).rounds(0, 1))
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 9, 1000000000000), }"
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n")
    with pytest.raises(InputError):
        list(File(str(tmp_path / "bomb.npz"), n=N).rounds(0, 1))


def test_infinite_vectors_may_be_byzantine_but_not_honest(tmp_path):
    x = X.copy()
    x[1, N - 1] = np.inf
    np.save(tmp_path / "a.npy", x)
    assert len(list(File(str(tmp_path / "a.npy"), given=tuple(range(N - F)), n=N).rounds(0, 5))) == 5
    with pytest.raises(InputError, match="honest vector 8 of round 1 is infinite"):
        list(File(str(tmp_path / "a.npy"), given=tuple(range(F, N)), n=N).rounds(0, 5))


@pytest.mark.parametrize(
    "name",
    [
        "gaussian:d=5",
        "heavy-tailed:tail=2",
        "clusters:k=3",
        "one-dimensional",
        "heterogeneous:spread=2",
        "low-rank:rank=1",
    ],
)
def test_families_are_the_same_in_any_order(name):
    source = source_named(name, N, F, seed=3)
    rounds = [each.vectors for each in source.rounds(0, 6)]
    assert np.array_equal(rounds[4], next(iter(source_named(name, N, F, seed=3).rounds(4, 5))).vectors)
    assert rounds[0].shape == (source.workers, source.dimension) == (N - F, source.dimension)
    assert not np.array_equal(rounds[0], rounds[1])
    other = next(iter(source_named(name, N, F, seed=4).rounds(0, 1))).vectors
    assert not np.array_equal(rounds[0], other)


def test_families_are_what_they_say():
    def drawn(name):
        return np.array([each.vectors for each in source_named(name, 13, 3).rounds(0, 300)])

    assert drawn("gaussian:d=3").std() == pytest.approx(1, abs=0.05)
    means = drawn("heterogeneous:d=20,spread=3").mean(axis=0)
    assert means.std() == pytest.approx(3, rel=0.15)
    assert np.linalg.matrix_rank(drawn("low-rank:d=8,rank=2").reshape(-1, 8)) == 2
    assert np.abs(drawn("heavy-tailed:d=3")).max() > 12
    far = np.linalg.norm(drawn("clusters:d=2,k=2,distance=40"), axis=-1)
    assert far.min() > 30
    assert drawn("one-dimensional").shape == (300, 10, 1)


def test_gradients_of_a_data_set_are_those_of_training():
    """Round k of the start is the first message of a run without momentum that draws the same batch."""
    from kappaguard.training.sources.dataset import DISTANT

    source = source_named("digits:alpha=1,clip=0.5", 11, 2, seed=7)
    rounds = list(source.rounds(0, 3))
    again = next(iter(source_named("digits:alpha=1,clip=0.5", 11, 2, seed=7).rounds(2, 3)))
    assert np.array_equal(rounds[2].vectors, again.vectors)
    assert rounds[0].vectors.shape == (9, source.dimension)
    assert rounds[0].flipped.shape == (2, source.dimension)
    assert np.linalg.norm(rounds[0].vectors, axis=1).max() <= 0.5 * (1 + 1e-5)
    wanted = preset("digits").with_values(
        {"alpha": 1.0, "clip": 0.5, "seed": 7, "momentum": 0.0, "rule": "average", "attack": "lf", "device": "cpu"}
    )
    training = build(wanted)
    training.state.step = DISTANT - 1
    training.step()
    assert np.array_equal(training.state.messages.numpy()[:9], rounds[0].vectors)
    assert np.array_equal(training.state.messages.numpy()[9:], rounds[0].flipped)
    later = source_named("digits:alpha=1,clip=0.5,after=20", 11, 2, seed=7).prepared()
    assert later.point is not None
    moved = next(iter(later.rounds(0, 1))).vectors
    assert not np.allclose(moved, rounds[0].vectors)
    assert pickle.loads(pickle.dumps(later)).point == pytest.approx(later.point)


def test_messages_of_a_run(tmp_path):
    wanted = Configuration().with_values(
        {
            "n": 7,
            "f": 2,
            "steps": 9,
            "keep_messages": 3,
            "rule": "cwtm",
            "attack": "sf",
            "device": "cpu",
            "evaluate_every": 0,
        }
    )
    folder = Folder.create(tmp_path, "run", wanted)
    training = build(wanted)
    run(training, wanted, folder)
    source = source_named(str(folder.path), 7, 2)
    assert isinstance(source, Messages)
    assert [path.name for path in source.steps] == ["step-00000003.npz", "step-00000006.npz", "step-00000009.npz"]
    rounds = list(source.rounds(0, 3))
    assert [each.honest for each in rounds] == [tuple(range(5))] * 3
    assert np.array_equal(rounds[-1].vectors, training.state.messages.numpy())
    plain = wanted.with_values({"keep_messages": 0})
    assert plain.mark() == wanted.mark()
    other = Folder.create(tmp_path, "other", plain)
    run(build(plain), plain, other)
    with pytest.raises(InputError, match="--keep-messages"):
        list(source_named(str(other.path), 7, 2).rounds(0, 1))
    with pytest.raises(InputError, match="one process"):
        run_distributed(wanted, tmp_path, "spread")
    damage(source.steps[1], 200)
    with pytest.raises(InputError, match="damaged"):
        list(source_named(str(folder.path), 7, 2).rounds(0, 3))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gausian", "did you mean gaussian"),
        ("gaussian:e=3", "no parameter 'e'"),
        ("gaussian:d=x", "whole number"),
        ("gaussian:d=0", ">= 1"),
        ("gaussian:d", "name=number"),
        ("heavy-tailed:tail=-1", "> 0"),
        ("low-rank:d=3,rank=5", "rank"),
        ("digits:beta=1", "no parameter"),
        ("digits:after=-1", "after"),
        ("digits:iid,alpha=1", "alpha"),
        ("nowhere.npy", "no file"),
        ("no/such/folder", "no source"),
    ],
)
def test_bad_names(name, words):
    with pytest.raises(InputError, match=words):
        list(source_named(name, N, F).rounds(0, 1))


@pytest.mark.parametrize("kind", ["npy", "npz", "pt", "safetensors"])
@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_refused_or_harmless(tmp_path, kind, data):
    """Whatever is changed in a file, reading it ends with rounds or with one line."""
    content = bytearray(written(tmp_path, kind).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        # headers are at the ends
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 200) | st.integers(-300, -1))
        content[place : place + 1] = data.draw(st.binary(max_size=4))
    (tmp_path / f"damaged.{kind}").write_bytes(bytes(content))
    try:
        for seen in File(str(tmp_path / f"damaged.{kind}"), n=N).rounds(0, 5):
            assert seen.vectors.ndim == 2
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    assert len(refused.splitlines()) <= 1
