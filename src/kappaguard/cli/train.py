"""``kappaguard train``: robust D-GD and D-SHB."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kappaguard.cli.options import AsJson

if TYPE_CHECKING:
    from kappaguard.training.configuration import Configuration
    from kappaguard.training.problem import Problem
    from kappaguard.training.run import Result


RUNS = Path(".kappaguard/runs")


def _option(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, show_default=False)


def train(
    preset: Annotated[
        str | None,
        _option("--preset", text="digits (default), mnist, mnist-authors, fashion-mnist, cifar-10, theorem1..."),
    ] = None,
    rule: Annotated[str | None, _option("--rule", text="The aggregation rule.")] = None,
    attack: Annotated[str | None, _option("--attack", text="alie, foe, sf, mimic, lf, adaptive or none.")] = None,
    n: Annotated[int | None, _option("-n", text="The number of workers.")] = None,
    f: Annotated[int | None, _option("-f", text="The number of Byzantine ones.")] = None,
    steps: Annotated[int | None, _option("--steps", text="T.")] = None,
    algorithm: Annotated[str | None, _option("--algorithm", text="gd (Algorithm 1) or shb (Algorithm 2).")] = None,
    dataset: Annotated[str | None, _option("--dataset", text="digits, mnist, fashion-mnist or cifar-10.")] = None,
    data_dir: Annotated[
        str | None, _option("--data-dir", text="A folder with the data; else KAPPAGUARD_DATA, else a download.")
    ] = None,
    samples: Annotated[int | None, _option("--samples", text="Only so many training samples; 0 for all.")] = None,
    model: Annotated[
        str | None, _option("--model", text="cnn-mnist, cnn-mnist-20-50, cnn-cifar, logistic or quadratic.")
    ] = None,
    batch: Annotated[int | None, _option("--batch", text="Samples per worker and step.")] = None,
    learning_rate: Annotated[float | None, _option("--learning-rate", text="gamma.")] = None,
    schedule: Annotated[
        str | None, _option("--schedule", text="constant, harmonic:STEPS, drop:STEP:FACTOR or theorem.")
    ] = None,
    momentum: Annotated[float | None, _option("--momentum", text="beta.")] = None,
    l2: Annotated[float | None, _option("--l2", text="The factor of l2-regularisation.")] = None,
    clip: Annotated[
        str | None, _option("--clip", text="The length that gradients are clipped to; none or 0 for no clipping.")
    ] = None,
    split: Annotated[str | None, _option("--split", text="dirichlet, dirichlet-workers, iid or extreme.")] = None,
    alpha: Annotated[float | None, _option("--alpha", text="The Dirichlet parameter.")] = None,
    seed: Annotated[int | None, _option("--seed", text="The same seed gives the same result.")] = None,
    device: Annotated[str | None, _option("--device", text="auto, cpu, cuda or mps.")] = None,
    dtype: Annotated[str | None, _option("--dtype", text="float32 or float64.")] = None,
    evaluate_every: Annotated[int | None, _option("--evaluate-every", text="Steps between tests.")] = None,
    screen: Annotated[
        int | None,
        _option("--screen", text="Test so many samples, and all of them only of the best model of ten tests."),
    ] = None,
    measure: Annotated[str | None, _option("--measure", text="none, light or full.")] = None,
    measure_every: Annotated[int | None, _option("--measure-every", text="Steps between measurements.")] = None,
    keep_messages: Annotated[
        int | None, _option("--keep-messages", text="Keep what the workers send every so many steps, for estimate.")
    ] = None,
    dimension: Annotated[int | None, _option("--dimension", text="Of quadratics.")] = None,
    smoothness: Annotated[float | None, _option("--smoothness", text="L of quadratics.")] = None,
    assumed_smoothness: Annotated[
        float | None, _option("--assumed-smoothness", text="L for the theorems' step sizes where nobody knows it.")
    ] = None,
    condition: Annotated[float | None, _option("--condition", text="L over the smallest curvature.")] = None,
    heterogeneity: Annotated[float | None, _option("--heterogeneity", text="G of quadratics.")] = None,
    sigma: Annotated[float | None, _option("--sigma", text="The noise of quadratics.")] = None,
    distance: Annotated[float | None, _option("--distance", text="Of a quadratic's start.")] = None,
    kappa: Annotated[
        float | None,
        _option("--kappa", text="A proved coefficient of the rule, for the schedule theorem; that of the rule slack."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where runs are kept.")] = RUNS,
    resume: Annotated[Path | None, _option("--resume", text="Continue the run in this folder.")] = None,
    replay: Annotated[
        Path | None, _option("--replay", text="Carry out again the run in this folder, which crossed a bound.")
    ] = None,
    run_code: Annotated[
        bool, typer.Option("--run-code", help="Import and run the rule of a stored run that is not one of ours.")
    ] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write the folder tensorboard as well, for TensorBoard (an extra).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train with Byzantine workers: every setting of a preset can be overridden."""
    given = {
        key: value
        for key, value in locals().items()
        if key not in ("preset", "out", "resume", "replay", "run_code", "tensorboard", "as_json") and value is not None
    }
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.folder import Folder

    if clip is not None:
        given["clip"] = _length(clip)
    if (resume or replay) is not None and (given or preset or out != RUNS or (resume and replay)):
        raise InputError("--resume and --replay take no other settings: a run goes as it was begun")
    if replay is not None and as_json:
        raise InputError("--replay has no --json: it says whether every number came out again")
    for stored in (each for each in (resume, replay) if each is not None):
        _refuse_code(Folder.existing(stored)[1], run_code)
    if replay is not None:
        _replay(replay)
        return
    if tensorboard:
        _require_board()
    if resume is not None and _done(resume, as_json):
        return
    if _spread(preset or "digits", given, out, resume, as_json):
        return
    if resume is not None:
        folder, configuration = Folder.existing(resume)
        if folder.processes() is None:
            typer.echo(f"{resume} has no checkpoint: the run begins again", err=True)
        training = _build(configuration)
    else:
        configuration = _configured(preset or "digits", given)
        training = _build(configuration)
        folder = Folder.create(out, f"{preset or 'digits'}-{slug(configuration)}", configuration)
        _draw_split(training.problem, configuration, folder)
    result = _run(training, configuration, folder, tensorboard)
    _tell(configuration, folder, result, 1, as_json)
    assumed, steepest = configuration.assumed_smoothness, result.largest_slope
    if assumed is not None and steepest is not None and steepest > assumed:
        raise InputError(f"the gradient was steeper, {steepest:.4g}, than L was assumed to be, {assumed:g}")


def _require_board() -> None:
    """Before anything is run or written."""
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.board import writer
    from kappaguard.training.distributed.group import launched

    writer()
    if launched():
        raise InputError("--tensorboard is for runs of one process: leave it out, or torchrun")


def _done(path: Path, as_json: bool) -> bool:
    """A run that has come to its end is told of, by one process, and left as it is."""
    import os

    from kappaguard.training.folder import Folder
    from kappaguard.training.run import Result

    folder, configuration = Folder.existing(path)
    values = folder.finished()
    if values is None:
        return False
    if os.environ.get("RANK", "0") == "0":
        typer.echo(f"{path} has come to its end: nothing is run again", err=True)
        _tell(configuration, folder, Result.from_json(values), int(values.get("processes", 1)), as_json)
    return True


def _refuse_code(configuration: Configuration, run_code: bool) -> None:
    """A folder from a stranger runs no code, unless the user says so."""
    from kappaguard.rules.base.errors import InputError

    if ":" in configuration.rule and not run_code:
        raise InputError(
            f"{configuration.rule!r} is not a rule of ours: to go on imports it and runs it with your rights; look at "
            "it first, then add --run-code"
        )


def _configured(preset: str, given: dict[str, Any]) -> Configuration:
    from kappaguard.training.configuration import preset as preset_named
    from kappaguard.training.unused_settings import refuse_unused

    configuration = preset_named(preset).with_values(given)
    refuse_unused(given, configuration)
    return configuration


def _tell(configuration: Configuration, folder: Any, result: Result, processes: int, as_json: bool) -> None:
    show = _json if as_json else _text
    typer.echo(show(configuration, folder, result, processes))


def _length(text: str) -> float | None:
    """What gradients are clipped to; ``none`` and 0 switch clipping off."""
    from kappaguard.rules.base.errors import InputError

    try:
        return None if text.lower() == "none" else float(text) or None
    except ValueError:
        raise InputError(f"clip must be a number or none, got {text!r}") from None


def _replay(path: Path) -> None:
    """Run again what crossed a bound; exit code 1 says that it did so again, as with any witness."""
    from kappaguard.rules.base.errors import InputError
    from kappaguard.training.theorems.crossing import replay

    found = replay(path)
    if not found.agrees:
        raise InputError(f"{path} does not come out again: the first number that differs is in step {found.differs}")
    typer.echo(f"all {found.steps} steps came out again: {found.left:.6g}, where the bound was {found.stated:.6g}")
    if not found.now.holds:
        raise typer.Exit(1)
    typer.echo(f"the bound is {found.now.stated:.6g} by this version, and is not crossed")


def _spread(preset: str, given: dict[str, Any], out: Path, resume: Path | None, as_json: bool) -> bool:
    """Take part in a run that torchrun started, if it did; process 0 prints what came out."""
    from kappaguard.training.distributed.group import launched

    if not launched():
        return False
    from kappaguard.training.distributed.run import RankLost, run_distributed
    from kappaguard.training.folder import Folder

    configuration = _configured(preset, given) if resume is None else Folder.existing(resume)[1]
    try:
        name = f"{preset}-{slug(configuration)}"
        done = run_distributed(
            configuration, out, name, resume, lambda problem, folder: _draw_split(problem, configuration, folder)
        )
    except RankLost as lost:
        typer.echo(f"kappaguard: {lost}", err=True)
        raise typer.Exit(1) from None
    if done is not None:
        _tell(configuration, *done, launched(), as_json)
    return True


def _build(configuration: Configuration) -> Any:
    from kappaguard.training.build import build

    return build(configuration)


def slug(configuration: Configuration) -> str:
    import re

    words = f"{configuration.rule}-{configuration.attack}-seed{configuration.seed}"
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")[:80]


def _draw_split(problem: Problem, configuration: Configuration, folder: Any) -> None:
    from kappaguard.reports.experiments.split import picture
    from kappaguard.rules.base.files import write
    from kappaguard.training.data.split import counts
    from kappaguard.training.learning import Learning

    if not isinstance(problem, Learning):
        return
    table = counts(problem.shards, problem.labels.cpu().numpy(), problem.classes)
    kind = configuration.split
    if kind.startswith("dirichlet"):
        kind = f"{kind}, alpha = {configuration.alpha:g}" if kind != "dirichlet" else f"alpha = {configuration.alpha:g}"
    write(folder.path / "split.svg", picture(table, f"{configuration.dataset}, {kind}"))


def _run(training: Any, configuration: Configuration, folder: Any, tensorboard: bool) -> Result:
    from kappaguard.cli.progress import Lines, counting
    from kappaguard.training.board import Board
    from kappaguard.training.run import run

    lines, seen = Lines("step"), dict[str, float]()
    board = Board(folder.path) if tensorboard else None

    def keep(row: dict[str, Any]) -> None:
        if board is not None:
            board.add(row)
        seen.update({name: row[name] for name in ("batch_loss", "accuracy") if row.get(name) is not None})

    try:
        with counting("steps") as report:

            def told(done: int, total: int) -> None:
                report(done, total)
                loss = f", loss {seen['batch_loss']:.4g}" if "batch_loss" in seen else ""
                lines.tell(done, total, loss + (f", accuracy {seen['accuracy']:.1%}" if "accuracy" in seen else ""))

            return run(training, configuration, folder, told, keep)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; to go on: kappaguard train --resume {shlex.quote(str(folder.path))}", err=True)
        raise typer.Abort from None
    finally:
        if board is not None:
            board.close()


def _json(configuration: Configuration, folder: Any, result: Result, processes: int) -> str:
    from kappaguard import __version__
    from kappaguard.training.finite_json import dumps

    values = {"configuration": configuration.to_json(), "folder": str(folder.path), **result.to_json()}
    return dumps({**values, "processes": processes, "version": __version__}, indent=2)


def _text(configuration: Configuration, folder: Any, result: Result, processes: int) -> str:
    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.2f} %"

    lines = {
        "run": f"{configuration.rule} under {configuration.attack}, n = {configuration.n}, f = {configuration.f}",
        "status": f"{result.status} after {result.steps} steps, {result.seconds:.1f} s"
        + (f", {processes} processes" if processes > 1 else ""),
    }
    if result.best_accuracy is not None:
        lines["accuracy"] = f"best {percent(result.best_accuracy)}, last {percent(result.accuracy)}"
    output = "none" if result.output_step is None else f"theta_{result.output_step}"
    if result.output_loss is not None:
        output += f", loss {result.output_loss:.6g}"
    if result.output_accuracy is not None:
        output += f", accuracy {percent(result.output_accuracy)}"
    lines["output"] = output
    if result.largest_ratio is not None:
        lines["ratio"] = f"at most {result.largest_ratio:.4g} in the measured steps"
    lines["folder"] = str(folder.path)
    return "\n".join(f"{key:<10} {value}" for key, value in lines.items())
