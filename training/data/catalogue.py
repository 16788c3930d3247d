"""The data sets by name, with the paper's preprocessing (appendix on the experimental setup)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError
from kappaguard.training.data.cifar import parse_cifar
from kappaguard.training.data.dataset import Dataset, normalised
from kappaguard.training.data.files import DataFile, content_of, is_there
from kappaguard.training.data.idx import parse_idx

DATASETS = ("digits", "mnist", "fashion-mnist", "cifar-10")

_IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_HOMES = {
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist",
    "fashion-mnist": "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
}
_DIGESTS = {
    "mnist": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    "fashion-mnist": (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}
_CIFAR_HOME = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_CIFAR_ARCHIVE = "md5:c32a1d4ab5d03f1284b67883e8d87530"
# Batches 2 to 5: github.com/ankane/torchvision-ruby, lib/torchvision/datasets/cifar10.rb, which also lists batch 1 and
# the test batch, with the numbers of our own files.
_CIFAR_DIGESTS = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """The data set of that name."""
    match name:
        case "digits":
            return _digits()
        case "mnist" | "fashion-mnist":
            return _idx(name, data_dir)
        case "cifar-10":
            return _cifar(data_dir)
    raise InputError(f"no data set is called {name!r}; there are {', '.join(DATASETS)}")


def _digits() -> Dataset:
    """scikit-learn's 1,797 digits of 8 x 8: it comes with them. A fixed fifth is for testing."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    images: NDArray[np.float32] = (np.asarray(pixels) / 16).astype(np.float32).reshape(-1, 1, 8, 8)[order]
    targets = np.asarray(labels, dtype=np.int64)[order]
    kept = len(targets) * 4 // 5
    return Dataset("digits", images[:kept], targets[:kept], images[kept:], targets[kept:], 10)


def _idx(name: str, data_dir: str | Path | None) -> Dataset:
    sources = [
        DataFile(file, digest, f"{_HOMES[name]}/{file}.gz")
        for file, digest in zip(_IDX_NAMES, _DIGESTS[name], strict=True)
    ]
    arrays = [parse_idx(content_of(source, name, data_dir), source.name) for source in sources]
    # MNIST is normalised; Fashion-MNIST is expanded with its flipped images instead
    mean, deviation = (0.1307, 0.3081) if name == "mnist" else (0.0, 1.0)
    images, test_images = (normalised(arrays[place][:, None], mean, deviation) for place in (0, 2))
    labels, test_labels = (arrays[place].astype(np.int64) for place in (1, 3))
    if name == "fashion-mnist":
        images = np.concatenate([images, images[..., ::-1]])
        labels = np.concatenate([labels, labels])
    return Dataset(name, images, labels, test_images, test_labels, 10)


def _cifar(data_dir: str | Path | None) -> Dataset:
    """As many of the five training batches as there are; a download has all."""
    names = [f"data_batch_{number}.bin" for number in range(1, 6)]
    sources = [DataFile(name, _CIFAR_DIGESTS[name], _CIFAR_HOME, _CIFAR_ARCHIVE) for name in (*names, "test_batch.bin")]
    training = [source for source in sources[:-1] if is_there(source, "cifar-10", data_dir)] or sources[:1]

    def read(source: DataFile) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        return parse_cifar(content_of(source, "cifar-10", data_dir), source.name)

    def prepared(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        mean: Any = (0.4914, 0.4822, 0.4465)
        return normalised(pixels, mean, (0.2023, 0.1994, 0.2010))

    parts = [read(source) for source in training]
    images = prepared(np.concatenate([pixels for pixels, _ in parts]))
    labels = np.concatenate([own for _, own in parts])
    test_pixels, test_labels = read(sources[-1])
    return Dataset("cifar-10", images, labels, prepared(test_pixels), test_labels, 10, flips=True)
