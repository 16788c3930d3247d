"""Computes what pyproject.toml cannot state: the packages of the rooms, and the compiled kernels."""

from pathlib import Path

from setuptools import Extension, setup

ROOMS = ("rules", "search", "training", "verify", "reports")
FOLDERS = {"kappaguard": Path("src/kappaguard"), **{f"kappaguard.{room}": Path(room) for room in ROOMS}}


def modules_below(folder: Path) -> list[Path]:
    """Every module below a folder; the rooms linked into src/kappaguard are found as folders of their own."""
    linked = {folder / room for room in ROOMS if (folder / room).is_symlink()}
    return [module for module in folder.rglob("*.py") if linked.isdisjoint(module.parents)]


# A folder counts as soon as it holds a module: a forgotten __init__.py must not lose a package from the wheel.
PACKAGES = {
    ".".join((name, *module.parent.relative_to(folder).parts))
    for name, folder in FOLDERS.items()
    for module in modules_below(folder)
}


def extension(name: str, source: Path) -> Extension:
    """A compiled module; without a compiler the install goes on, and its users take their lines of Python."""
    return Extension(
        name,
        sources=[str(source)],
        depends=sorted(map(str, source.parent.glob("*.h"))),
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
        extra_compile_args=["-O3", "-fno-math-errno"],
        optional=True,
    )


KERNELS = {
    "kappaguard.rules.native._kernels": Path("rules/native/kernels.c"),
    "kappaguard.training.native._blocks": Path("training/native/blocks.c"),
}

setup(
    packages=sorted(PACKAGES),
    package_dir={name: str(folder) for name, folder in FOLDERS.items()},
    ext_modules=[extension(name, source) for name, source in KERNELS.items() if source.exists()],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
