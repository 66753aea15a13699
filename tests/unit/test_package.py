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
    "arrays collector errors printable version",
    "progress",
    "datasets",
    "data.signals",
    "data",
    "grammar",
    "words",
    "kernels.gpflow.linear",
    "kernels.gpflow.form",
    "kernels",
    "kernels.bank",
    "kernels.gpflow",
    "kernels.starts",
    "execution.memory execution.stage_state execution.work",
    "inference.likelihoods",
    "inference.optim",
    "inference.objectives",
    "inference.approximations",
    "inference.inducing inference.proposal inference.result",
    "inference.screening inference.seeds inference.svgp.policy",
    "policies",
    "inference.settings",
    "inference.context",
    "inference.candidate",
    "inference.paper",
    "inference",
    "inference.svgp inference.bounds",
    "predict.posteriors",
    "predict.models",
    "predict.graphs",
    "predict",
    "inference.pipeline inference.evaluator inference.learned_inducing",
    "parts",
    "properties",
    "criticism",
    "storage",
    "execution",
    "weights",
    "search",
    "search.strategies",
    "search.methods",
    "config",
    "preparing selection",
    "backtesting",
    "report",
    "selection.selection selection.loading selection.paper selection.selections",
    "selecting",
    "several_targets",
    "api",
    "backtesting.rolling",
    "comparing planning",
    "integrations",
    "ui",
)
"""Parts of the package in the order of the way that data takes; the longest name counts."""

RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}

PACKAGES = ["vbks"] + [
    module.name for module in pkgutil.walk_packages([str(ROOT)], "vbks.") if module.ispkg
]


def modules():
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def part_of(module):
    """The layer of a module: the longest known beginning of its name."""
    while module not in RANKS:
        module = module.rpartition(".")[0]
    return module


def imported_modules(path):
    """Modules of the package that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{a.name}" for a in node.names]
        for name in names:
            if name.startswith("vbks."):
                yield _module(name.removeprefix("vbks."))


def _module(name):
    """The module that an imported name is, or is in."""
    is_module = any(
        (ROOT / name.replace(".", "/")).with_suffix(end).exists() for end in (".py", "")
    )
    return name if is_module else name.rpartition(".")[0]


@pytest.mark.parametrize("path", modules(), ids=module_of)
def test_module__imports_only_from_its_own_and_earlier_layers(path):
    if path.name == "__init__.py":  # packages show what is in them, whatever their layers
        return
    own = part_of(module_of(path))
    for module in imported_modules(path):
        layer = part_of(module)
        assert RANKS[layer] <= RANKS[own], f"imports {module}"


def test_modules__import_each_other_in_no_circle():
    imports = {module_of(p): set(imported_modules(p)) for p in modules() if p.name != "__init__.py"}
    while leaves := [name for name, needed in imports.items() if not needed & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert not imports, f"these import each other: {sorted(imports)}"


def test_grammar__needs_no_tensorflow_and_no_numpy():
    code = "import sys, vbks.grammar; assert not {'numpy', 'tensorflow'} & set(sys.modules)"
    run_python(code)


def test_policies__can_be_the_first_that_is_imported():
    run_python("import vbks; vbks.Policies(screening=vbks.inference.ScreeningPolicy())")


def test_fit__is_called_before_tensorflow_is_imported():
    """The time that its import takes is part of the call, and of its budget."""
    run_python("import sys, vbks; vbks.fit; assert 'tensorflow' not in sys.modules")


@pytest.mark.parametrize("name", PACKAGES)
def test_all__is_sorted_and_every_name_is_there(name):
    package = importlib.import_module(name)
    names = getattr(package, "__all__", [])
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
    assert imported <= set(getattr(package, "__all__", []))


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
        "from vbks.ui.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'tensorflow' not in sys.modules and 'pandas' not in sys.modules"
    )
    assert output.strip() == f"vbks {vbks.__version__}"


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", ["vbks", "vbks.inference"])
def test_lazy_names__are_not_hidden_by_modules_of_the_same_name(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        first = getattr(module, name)
        assert getattr(module, name) is first
        is_package = package == "vbks" and name in vbks._PACKAGES
        assert isinstance(first, type(sys)) == is_package
