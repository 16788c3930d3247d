"""The paper's two networks, and logistic regression, by name.

The paper's notation: C(channels) a convolution (kernel 5), R rectifier, M max-pool 2, B batch normalisation,
D dropout 0.25, L(outputs) fully connected, S log-softmax, which is part of the loss here.
"""

from __future__ import annotations

from kappaguard.rules.base.errors import InputError
from kappaguard.training.models.block import Block
from kappaguard.training.models.convolution import Convolution
from kappaguard.training.models.elementwise import Dropout, Pool, Rectifier
from kappaguard.training.models.layer import Layer, Shape
from kappaguard.training.models.linear import Linear
from kappaguard.training.models.network import Network
from kappaguard.training.models.normalisation import BatchNorm

MODELS = ("cnn-mnist", "cnn-mnist-20-50", "cnn-cifar", "logistic")


def network(name: str, shape: Shape, classes: int) -> Network:
    """The network of that name for samples of that shape."""
    match name:
        case "cnn-mnist":
            layers = _mnist(20, classes)
        case "cnn-mnist-20-50":
            layers = _mnist(50, classes)
        case "cnn-cifar":
            layers = _cifar(classes)
        case "logistic":
            layers = (Linear(classes),)
        case _:
            raise InputError(f"no model is called {name!r}; there are {', '.join(MODELS)} and quadratic")
    least = {"cnn-mnist": 16, "cnn-mnist-20-50": 16, "cnn-cifar": 28}.get(name, 0)
    if least and (len(shape) != 3 or min(shape[1:]) < least or any(side % 4 for side in shape[1:])):
        raise InputError(f"{name} needs images of {least} x {least} or more, sides divisible by 4, got shape {shape}")
    return Network(layers, shape)


def _mnist(channels: int, classes: int) -> tuple[Layer, ...]:
    """C(20)-R-M-C(channels)-R-M-L(500)-R-L(10)-S: the paper prints 20 channels, the authors' code has 50."""
    return (Block(20), Block(channels), Linear(500), Rectifier(), Linear(classes))


def _cifar(classes: int) -> tuple[Layer, ...]:
    """The network for CIFAR-10: C(64)-R-B-C(64)-R-B-M-D-C(128)-R-B-C(128)-R-B-M-D-L(128)-R-D-L(10)-S."""

    def block(channels: int) -> tuple[Layer, ...]:
        once = (Convolution(channels), Rectifier(), BatchNorm())
        return (*once, *once, Pool(), Dropout())

    return (*block(64), *block(128), Linear(128), Rectifier(), Dropout(), Linear(classes))
