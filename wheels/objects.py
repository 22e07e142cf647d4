"""One entry as an object file that runs on any machine of the baseline.

numba compiles the step as it does for this machine, except that the environment tells it to use
the instructions of the baseline only (`wheels.building.BASELINE`). Its optimised LLVM module, with
a C function that calls the step, is then emitted as code that can be placed anywhere in memory.
Everything but that C function is internal to the object, and what it does not need is dropped.
"""

import functools
from typing import Any

from llvmlite import binding, ir
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from belated.compiled.jit.compiler import compile_result
from belated.compiled.steps import shape_of
from wheels.shapes import C_FORMS, FAILED, Call, CForm

# llvmlite and numba have no type annotations that could be checked
llvm: Any = binding
settings: Any = config


def object_of(entry: Any, symbol: str) -> bytes:
    """Compile an entry and return the object file with its C function `symbol`."""
    module = llvm.parse_bitcode(_linked(compile_result(entry), entry, symbol).as_bitcode())
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != symbol:
            each.linkage = "internal"
    builder = llvm.create_pass_builder(machine(), llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_merge_functions_pass()
    passes.add_constant_merge_pass()
    passes.run(module, builder)
    return bytes(machine().emit_object(module))


def _linked(result: Any, entry: Any, symbol: str) -> Any:
    """Return the optimised LLVM module of a compiled step and its C function."""
    form = C_FORMS[shape_of(entry.step)]
    library = result.library.codegen.create_library(symbol)
    library.add_linking_library(result.library)
    module = library.create_ir_module(symbol)
    _fill(
        ir.Function(module, ir.FunctionType(ir.IntType(64), form.parameters), symbol), result, form
    )
    with global_compiler_lock:
        library.add_ir_module(module)
        library.finalize()
    return library._final_module


def _fill(function: Any, result: Any, form: CForm) -> None:
    """Generate the body of the C function, which calls the step in numba's own way."""
    context, signature = result.target_context, result.signature
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    call = Call(context, builder, signature.args, function.args)
    step = context.declare_function(function.module, result.fndesc)
    status, value = context.call_conv.call_function(
        builder, step, signature.return_type, signature.args, form.given(call)
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(FAILED)
    builder.ret(form.returned(call, value))


@functools.cache
def machine() -> Any:
    """Return the machine that code is emitted for: the one that numba was told to compile for."""
    assert settings.CPU_NAME is not None, "this process was started without the baseline"
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=settings.CPU_NAME,
        features=settings.CPU_FEATURES,
        opt=3,
        reloc="pic",
        codemodel="small",
    )
