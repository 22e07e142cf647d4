"""Records of arrays without their owners, so that compiled code need not count references.

Whenever compiled code reads an array of a record or takes a row of it, numba counts a reference by
an atomic operation, which takes most of the time of a loop whose rounds take nanoseconds. An array
without an owner has no references to count. The caller must keep the original record alive for as
long as the new one is used.
"""

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from belated.compiled.jit import config

null: Any = cgutils.get_null_value


def disowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value, an array or a (nested) record of arrays, without the arrays' owners."""
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
    """Generate code that returns a record with the same arrays, without their owners."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return disowned(context, builder, signature.args[0], arguments[0])

    return record(record), generate


# Plain Python counts references in any case, so the record is returned unchanged there.
borrowed: Any = (lambda record: record) if config.DISABLE_JIT else intrinsic(_borrowed)
