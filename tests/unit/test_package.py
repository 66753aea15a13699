"""The shape of the package: who imports whom, what is public, and what importing it does."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import vbks

ROOT = Path(vbks.__file__).parent

LAYERS = (
    ("arrays", "errors", "version"),
    ("datasets",),
    ("data",),
    ("grammar",),
    ("kernels",),
    ("inference",),
    ("models",),
    ("storage",),
    ("execution",),
    ("selection",),
    ("prediction",),
    ("report",),
    ("several_targets",),
    ("fitting",),
    ("comparing", "planning"),
    ("csv_files", "terminal", "demo", "estimator", "cli"),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

PACKAGES = ["vbks"] + [
    module.name for module in pkgutil.walk_packages([str(ROOT)], "vbks.") if module.ispkg
]


def modules():
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def layer_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{a.name}" for a in node.names]
        for name in names:
            if name.split(".")[0] == "vbks":
                yield name.split(".")[1]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_module__imports_only_from_its_own_and_earlier_layers(path):
    rank = RANK[layer_of(path)]
    for layer in imported_layers(path):
        own = layer == layer_of(path)
        assert own or RANK[layer] < rank or rank == len(LAYERS) - 1, f"imports {layer}"


def test_grammar__needs_no_tensorflow_and_no_numpy():
    code = "import sys, vbks.grammar; assert not {'numpy', 'tensorflow'} & set(sys.modules)"
    run_python(code)


@pytest.mark.parametrize("name", PACKAGES)
def test_all__is_sorted_and_every_name_is_there(name):
    package = importlib.import_module(name)
    names = package.__all__
    constants = [n for n in names if n.isupper() or n[1:].isdigit()]
    assert len(set(names)) == len(names)
    assert list(names) == sorted(names, key=lambda n: (sort_class(n, constants), n))
    for public in names:
        assert getattr(package, public) is not None


def sort_class(name, constants):
    """Constants, then classes, then the rest: the order that the linter keeps."""
    if name in constants:
        return 0
    return 1 if name[0].isupper() else 2


@pytest.mark.parametrize("name", PACKAGES)
def test_all__names_everything_that_the_package_imports(name):
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text())
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("vbks")
        for alias in node.names
    }
    assert imported <= set(package.__all__)


def test_import_vbks__does_not_import_tensorflow_or_set_the_environment():
    run_python(
        "import os, sys; before = dict(os.environ); import vbks; vbks.parse('SE * PER');"
        "vbks.K144; assert 'tensorflow' not in sys.modules and 'gpflow' not in sys.modules;"
        "assert dict(os.environ) == before"
    )


def test_kernels__change_no_global_setting():
    run_python(
        """
import logging, os, warnings
import gpflow, numpy as np, tensorflow as tf

def settings():
    return dict(
        environment=dict(os.environ),
        gpflow=gpflow.config.config(),
        floatx=tf.keras.backend.floatx(),
        threads=(tf.config.threading.get_inter_op_parallelism_threads(),
                 tf.config.threading.get_intra_op_parallelism_threads()),
        eager=tf.config.functions_run_eagerly(),
        devices=[tf.config.get_visible_devices(), tf.config.get_soft_device_placement()],
        jit=tf.config.optimizer.get_jit(),
        seed=tf.random.get_global_generator() is None,
        numpy=(np.geterr(), np.random.get_state()[1].tolist()),
        logging=(logging.getLogger().level, tf.get_logger().level),
        warnings=list(warnings.filters),
    )

before = settings()
import vbks
vbks.Bank(["SE * PER", "LIN"])([[0.0] * 5] * 2, [[0.0], [1.0]])
vbks.to_gpflow("SE * PER")
assert settings() == before
"""
    )


def test_version__is_printed_without_tensorflow():
    output = run_python(
        "import sys; sys.argv = ['vbks', '--version']\n"
        "from vbks.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'tensorflow' not in sys.modules and 'pandas' not in sys.modules"
    )
    assert output.strip() == f"vbks {vbks.__version__}"


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
