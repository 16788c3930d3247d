"""Two processes of an nccl group, pretended by two threads: collectives take tensors on the device and no others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from kappaguard.training.distributed.group import Group
from tests.training.elsewhere import Elsewhere, pretended

SIZE = 2


class NotOnDevice(AssertionError):
    """A collective of nccl was handed a tensor that is on no GPU."""


class Nccl:
    """What torch.distributed is for two threads; every one of them calls the same collectives in the same order."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(SIZE, timeout=120)
        self._shared: list[Any] = [None] * SIZE
        self._own = threading.local()

    def _exchange(self, rank: int, given: Any) -> list[Any]:
        self._shared[rank] = given
        self._barrier.wait()
        found = list(self._shared)
        self._barrier.wait()
        return found

    def _inner(self, tensor: torch.Tensor) -> torch.Tensor:
        if not isinstance(tensor, Elsewhere):
            raise NotOnDevice(f"a tensor of shape {tuple(tensor.shape)} on the CPU")
        return tensor.inner

    def all_reduce(self, tensor: torch.Tensor) -> None:
        """The sum, in place."""
        inner = self._inner(tensor)
        every = self._exchange(self._own.rank, inner.clone())
        inner.copy_(sum(every[1:], every[0]))

    def all_gather(self, parts: list[torch.Tensor], tensor: torch.Tensor) -> None:
        """Everybody's."""
        for part, found in zip(parts, self._exchange(self._own.rank, self._inner(tensor).clone()), strict=True):
            self._inner(part).copy_(found)

    def all_to_all_single(
        self, received: torch.Tensor, sent: torch.Tensor, incoming: list[int], outgoing: list[int]
    ) -> None:
        """A piece to everybody, and a piece from everybody."""
        rank = self._own.rank
        every = self._exchange(rank, self._inner(sent).split(outgoing))
        found = [pieces[rank] for pieces in every]
        assert [len(piece) for piece in found] == incoming
        self._inner(received).copy_(torch.cat(found))

    def run(self, work: Callable[[Group], Any], monkeypatch: Any) -> list[Any]:
        """What ``work`` returns in each of the processes."""
        for name in ("all_reduce", "all_gather", "all_to_all_single"):
            monkeypatch.setattr(torch.distributed, name, getattr(self, name))
        results: list[Any] = [None] * SIZE

        def process(rank: int) -> None:
            self._own.rank = rank
            try:
                with pretended() as device:
                    results[rank] = work(Group(rank, SIZE, device.type))
            except BaseException as error:
                results[rank] = error
                self._barrier.abort()

        threads = [threading.Thread(target=process, args=(rank,)) for rank in range(SIZE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failed = [each for each in results if isinstance(each, BaseException)]
        for error in sorted(failed, key=lambda each: isinstance(each, threading.BrokenBarrierError)):
            raise error
        return results
