"""Kernels as parts of a step: they are optimised once, with the step, and not each for itself.

numba would optimise every kernel together with all kernels inside it, and emit machine code for it,
though only the outermost function, the step, is ever called. A part is only linked.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

library: Any = JITCodeLibrary
compiler: Any = Compiler


class NoEnvironment:
    """Stands for the code generator where numba would tell a function's code its environment."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no such code."""


class PartLibrary(library):  # type: ignore[misc]
    """The code of a kernel and of all kernels inside it, for the library of a step to link."""

    @property
    def codegen(self) -> NoEnvironment:
        """What numba's last stage of compiling a function uses."""
        return NoEnvironment()

    def finalize(self) -> None:
        """Link the kernels inside this one, and leave the rest to the step."""
        self._raise_if_finalized()
        for each in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(each._reload_init)
            self._final_module.link_in(each._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code."""
        self._ensure_finalized()
        return 0


class PartCompiler(compiler):  # type: ignore[misc]
    """numba's compiler, as it compiles a part."""

    def define_pipelines(self) -> Any:
        """Give the function its library, and compile it as usual."""
        codegen, function = self.state.targetctx.codegen(), self.state.func_id
        self.state.library = PartLibrary(codegen, function.func_qualname)
        return super().define_pipelines()
