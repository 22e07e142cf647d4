"""One compiled step as an object file that runs on any machine of the baseline.

numba compiles the step as it does for this machine, except that it is told to use the baseline's
instructions only (see `BASELINE`). Its optimised LLVM module, with a C function that calls the
step, is then emitted as code that a linker can place anywhere. Everything but that C function is
internal to the object, and what it does not need is dropped.
"""

import functools
import os
from typing import Any

CPU = "x86-64-v3"
FEATURES = "+avx,+avx2,+bmi,+bmi2,+cmov,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt"
FEATURES += ",+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave"

# What must be in the environment before numba is imported.
BASELINE = {
    "NUMBA_CPU_NAME": CPU,
    "NUMBA_CPU_FEATURES": FEATURES,
    "NUMBA_DISABLE_INTEL_SVML": "1",
    "NUMBA_DISABLE_JIT": "0",
}


def object_of(result: Any, shape: Any, symbol: str) -> bytes:
    """Return the object file with the C function `symbol` for a step that numba has compiled.

    `result` is numba's compile result of the step for handles of one kind.
    """
    from llvmlite import binding

    module = binding.parse_bitcode(_linked(result, shape, symbol).as_bitcode())
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != symbol:
            each.linkage = "internal"
    builder = binding.create_pass_builder(
        machine(), binding.create_pipeline_tuning_options(speed_level=3)
    )
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_merge_functions_pass()
    passes.add_constant_merge_pass()
    passes.run(module, builder)
    return bytes(machine().emit_object(module))


def _linked(result: Any, shape: Any, symbol: str) -> Any:
    """The optimised LLVM module of the step and its C function."""
    from llvmlite import ir
    from numba.core.compiler_lock import global_compiler_lock

    library = result.library.codegen.create_library(symbol)
    library.add_linking_library(result.library)
    module = library.create_ir_module(symbol)
    kind = ir.FunctionType(ir.IntType(64), shape.parameters)
    function = ir.Function(module, kind, symbol)
    _fill(function, result, shape)
    with global_compiler_lock:
        library.add_ir_module(module)
        library.finalize()
    return library._final_module


def _fill(function: Any, result: Any, shape: Any) -> None:
    """Generate the body of the C function: the step, called with arguments in numba's own way."""
    from llvmlite import ir

    from wheels.shapes import FAILED, Call

    context, signature = result.target_context, result.signature
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    call = Call(context, builder, signature.args, function.args)
    step = context.declare_function(function.module, result.fndesc)
    status, value = context.call_conv.call_function(
        builder, step, signature.return_type, signature.args, shape.given(call)
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(FAILED)
    builder.ret(shape.returned(call, signature.return_type, value))


@functools.cache
def machine() -> Any:
    """The machine that code is emitted for, and how: it can be placed anywhere in memory."""
    from llvmlite import binding

    assert all(os.environ.get(name) == value for name, value in BASELINE.items())
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=CPU, features=FEATURES, opt=3, reloc="pic", codemodel="small"
    )
