"""What compiled code does in its own way: opening handles, the generic verbs, and stacked states.

Each function here is the compiled form of a plain one, which it replaces in the compiled world.
"""

import math
from collections.abc import Callable
from typing import Any, cast

from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox
from numba.np import arrayobj
from numba.np.unsafe.ndarray import to_fixed_tuple

from belated.compiled import dispatch, records, stacking
from belated.compiled.jit.parts import PartCompiler
from belated.compiled.jit.world import REPLACEMENTS, nested
from belated.compiled.kernels import kernel_of
from belated.numerics.log_gamma import log_gamma

# numba has no type annotations that could be checked
types: Any = numba_types
arrays: Any = arrayobj
fixed_tuple: Any = to_fixed_tuple
native: Any = NativeValue
unboxes: Any = unbox
INLINE: Any = {"forceinline": True, "error_model": "numpy", "pipeline_class": PartCompiler}


class HandleType(numba_types.Type):
    """The numba type of a handle: the type of its record, and the width of a row of plays."""

    def __init__(self, layout: records.Layout, row_width: int) -> None:
        self.record = type_of(layout)
        self.row_width = row_width
        named: Any = super().__init__
        named(name=f"Handle({records.described(layout)}, {row_width})")

    @property
    def key(self) -> Any:
        """Two state classes of one name have handles of different types."""
        return self.record, self.row_width


def type_of(layout: records.Layout) -> Any:
    """Return the numba type of a record of this layout."""
    kind, parts = layout
    if isinstance(kind, str):
        return types.none if kind == "none" else types.Array(getattr(types, kind), parts, "C")
    inner = [type_of(part) for part in cast(tuple[Any, ...], parts)]
    return types.NamedTuple(inner, kind) if hasattr(kind, "_fields") else types.Tuple(inner)


@register_model(HandleType)
class HandleModel(models.PrimitiveModel):
    """The memory layout of a handle in compiled code, which is an address."""

    def __init__(self, manager: Any, kind: HandleType) -> None:
        made: Any = super().__init__
        made(manager, kind, cgutils.voidptr_t)


def _unboxed(kind: HandleType, address: Any, c: Any) -> Any:
    number = c.pyapi.long_as_longlong(address)
    pointer = c.builder.inttoptr(number, cgutils.voidptr_t)
    return native(pointer, is_error=c.pyapi.c_api_error())


unboxes(HandleType)(_unboxed)


@intrinsic
def opened(typing: Any, handle: Any) -> Any:
    """Build the record of a handle from its list of addresses and shapes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = builder.bitcast(arguments[0], cgutils.intp_t.as_pointer())
        value, _ = _built(context, builder, signature.return_type, words, 0)
        return value

    return handle.record(handle), generate


def _built(context: Any, builder: Any, kind: Any, words: Any, place: int) -> tuple[Any, int]:
    """Build a value of a type from the list of a handle; returns it and the next place to read."""
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value(), place
    if isinstance(kind, types.Array):
        count = 1 + kind.ndim
        at = [builder.gep(words, [cgutils.intp_t(place + i)]) for i in range(count)]
        address, *shape = [builder.load(word) for word in at]
        return _array(context, builder, kind, address, shape), place + count
    parts = []
    for part in kind.types:
        value, place = _built(context, builder, part, words, place)
        parts.append(value)
    return context.make_tuple(builder, kind, parts), place


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Make an array without an owner or a reference count, like one made by `numba.carray`."""
    item = context.get_data_type(kind.dtype)
    size = cgutils.intp_t(context.get_abi_sizeof(item))
    stride = size
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    array = arrays.make_array(kind)(context, builder)
    data = builder.inttoptr(address, item.as_pointer())
    arrays.populate_array(array, data, shape, strides, size, meminfo=None)
    return array._getvalue()


@overload(records.frozen, strict=False)
def _frozen(handle: Any, row: Any) -> Any:
    width = handle.row_width
    return lambda handle, row: fixed_tuple(row, width)


@overload(records.put_back, strict=False, jit_options=INLINE)
def _put_back(frozen: Any, row: Any) -> Any:
    if len(frozen) == 0:
        return lambda frozen, row: None  # it passes through memory; see `compiled.row_steps`

    def copy(frozen: Any, row: Any) -> None:
        for k in range(len(frozen)):
            row[k] = frozen[k]

    return copy


# -- the generic verbs: resolved by the class of the state while a loop over them is compiled


def _verb(state: Any, name: str) -> Any:
    """Return the compiled form of a learner's verb, for the type of its state."""
    verb = getattr(dispatch.VERBS[state.instance_class], name)
    kernel = kernel_of(verb)
    return verb if kernel is None else nested(kernel)  # a user may compile verbs with numba itself


# Not strict: otherwise numba requires a verb to have the annotations of its generic function.
@overload(dispatch.predict, strict=False, jit_options=INLINE)
def _predict(state: Any, prediction: Any) -> Callable[..., None]:
    verb = _verb(state, "predict")
    return lambda state, prediction: verb(state, prediction)


@overload(dispatch.commit, strict=False, jit_options=INLINE)
def _commit(state: Any, prediction: Any, arm: Any, plays: Any) -> Callable[..., None]:
    verb = _verb(state, "commit")
    return lambda state, prediction, arm, plays: verb(state, prediction, arm, plays)


@overload(dispatch.withdraw, strict=False, jit_options=INLINE)
def _withdraw(state: Any, play: Any, arm: Any) -> Callable[..., None]:
    verb = _verb(state, "withdraw")
    return lambda state, play, arm: verb(state, play, arm)


@overload(dispatch.observe, strict=False, jit_options=INLINE)
def _observe(state: Any, play: Any, arm: Any, loss: Any, missing: Any) -> Callable[..., None]:
    verb = _verb(state, "observe")
    return lambda state, play, arm, loss, missing: verb(state, play, arm, loss, missing)


# -- stacked states


@overload(stacking.copy_of, strict=False, jit_options=INLINE)
def _copy_of(stack: Any, index: Any) -> Callable[[Any, int], Any]:
    """Make `copy_of` for one kind of stack: numba needs a function that names every class."""
    scope: dict[str, Any] = {"__name__": __name__}
    function: Callable[[Any, int], Any] = eval(f"lambda stack, index: {_view(stack, scope)}", scope)
    return function


def _view(kind: Any, scope: dict[str, Any], path: str = "stack") -> str:
    """Return the expression that builds one state, and add the classes it names to `scope`."""
    if isinstance(kind, types.Array):
        return f"{path}[index]"
    name = f"record_{len(scope)}"
    scope[name] = kind.instance_class
    parts = zip(kind.fields, kind.types, strict=True)
    inner = ", ".join(_view(part, scope, f"{path}.{field}") for field, part in parts)
    return f"{name}({inner})"


REPLACEMENTS[records.opened] = opened
REPLACEMENTS[log_gamma] = math.lgamma  # which calls the C library in compiled code
