"""The compiled world: the numba form of every kernel, made from its plain form when needed.

The kernels of a module are plain Python functions that call each other by name. Their compiled
forms are numba dispatchers over the same code, with a copy of the module's names in which every
kernel is its dispatcher. Functions that are not kernels, but have a form of their own in compiled
code (lanes, the generic verbs, the opening of handles), are replaced by that form.
"""

from types import CellType, FunctionType, ModuleType
from typing import Any

import numba

from belated.compiled.jit.parts import PartCompiler
from belated.compiled.kernels import Kernel, kernel_of

njit: Any = numba.njit
PART = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
REPLACEMENTS: dict[Any, Any] = {}  # a plain function -> its form in compiled code
_dispatchers: dict[tuple[Any, bool], Any] = {}
_scopes: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
_modules: dict[str, ModuleType] = {}


def nested(kernel: Kernel) -> Any:
    """Return the dispatcher of a kernel for calls by other compiled code."""
    return _dispatcher(kernel, nested=True)


def called(kernel: Kernel) -> Any:
    """Return the dispatcher of a kernel for calls by Python."""
    return _dispatcher(kernel, nested=False)


def entry_dispatcher(step: Any, nogil: bool) -> Any:
    """Return a dispatcher of a step, which is called from Python."""
    kernel = kernel_of(step)
    assert kernel is not None, step
    return njit(error_model="numpy", nogil=nogil)(_counterpart(kernel.function))


def _dispatcher(kernel: Kernel, nested: bool) -> Any:
    """Return the dispatcher of a kernel, which is nested as a part of whatever calls it.

    numba would otherwise generate a Python wrapper for each nested kernel, and optimise and emit
    both, which takes half of the time of compiling.
    """
    key = kernel.function, nested
    if key not in _dispatchers:
        options = dict(kernel.options)
        if nested and "inline" not in options:
            options |= PART
        _dispatchers[key] = njit(error_model="numpy", **options)(_counterpart(kernel.function))
    return _dispatchers[key]


def _counterpart(function: Any) -> FunctionType:
    """Return a function of the same code that sees the compiled forms of everything it uses."""
    cells = tuple(CellType(_replaced(c.cell_contents)) for c in function.__closure__ or ())
    scope = _scope_of(function.__globals__)
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__doc__ = function.__doc__
    return copy


def _scope_of(names: dict[str, Any]) -> dict[str, Any]:
    """Return the copy of a module's names with compiled forms, brought up to date.

    The names of a notebook grow from cell to cell, and may stand for something else later.
    """
    _, scope = _scopes.setdefault(id(names), (names, {}))
    known = scope.setdefault("__belated_seen__", {})
    for name, value in list(names.items()):
        if known.get(name, scope) is not value:
            known[name] = value
            scope[name] = _replaced(value)
    return scope


def _replaced(value: Any) -> Any:
    """Return the compiled form of a value, which is the value itself if it has none."""
    if isinstance(value, ModuleType):
        return _module(value)
    if not callable(value) or isinstance(value, type):
        return value
    kernel = kernel_of(value)
    if kernel is not None:
        return nested(kernel)
    try:
        return REPLACEMENTS.get(value, value)
    except TypeError:  # a value that cannot be looked up
        return value


class CompiledModule(ModuleType):
    """A module seen from compiled code: its kernels are their compiled forms."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        self._scope = _scope_of(vars(module))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._scope[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no {name!r}") from None


def _module(module: ModuleType) -> ModuleType:
    """Return a module with the compiled forms of its kernels, if it has any."""
    if not any(kernel_of(value) for value in vars(module).values() if callable(value)):
        return module
    if module.__name__ not in _modules:
        _modules[module.__name__] = CompiledModule(module)
    return _modules[module.__name__]
