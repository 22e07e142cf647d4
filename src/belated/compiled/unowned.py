"""Records of arrays without their owners, so that compiled code need not count references.

numba counts a reference, atomically, whenever compiled code reaches into a record for an array or
takes a row of it; in a loop of nanoseconds that is most of the time. An array without an owner has
nothing to count. The caller must keep the real record alive for as long.
"""

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from belated.compiled.jit import config

null: Any = cgutils.get_null_value


def disowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value, which may be a record of records, with no owner in any of its arrays."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = null(array.meminfo.type), null(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind
        parts = [
            disowned(context, builder, part, builder.extract_value(value, place))
            for place, part in enumerate(kinds)
        ]
        return context.make_tuple(builder, kind, parts)
    return value


def _borrowed(context: Any, record: Any) -> tuple[Any, Callable[..., Any]]:
    """Code that returns a record with these arrays, without their owners."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return disowned(context, builder, signature.args[0], arguments[0])

    return record(record), generate


# plain Python counts references anyway
borrowed: Any = (lambda record: record) if config.DISABLE_JIT else intrinsic(_borrowed)
