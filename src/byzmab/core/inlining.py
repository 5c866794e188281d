"""Functions that are compiled only to be inlined.

numba optimizes every function and makes machine code of it before it links it into its callers, where all of that is
done again. Ours are nested up to eight deep and inlined at every step. So what a compiled function calls is typed and
lowered, and no more: optimizing and machine code come once, with the loop in which everything ends up.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class UnoptimizedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that others link into theirs, and that never runs by itself."""

    def _optimize_final_module(self) -> None:
        """Leave it to those who link it in."""

    def _finalize_final_module(self) -> None:
        """Do what numba does, but for the machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerForInlining(NativeLowering):  # type: ignore[misc]
    """numba's lowering, into such a library."""

    _name = "byzmab_lower_for_inlining"

    def run_pass(self, state: Any) -> bool:
        """Lower the function and let callers find it; return that something changed."""
        state.library = UnoptimizedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        key = [].clear  # in the place of machine code numba wants a builtin that equals no other
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class InnerCompiler(CompilerBase):  # type: ignore[misc]
    """numba's passes in nopython mode, but for the last."""

    def define_pipelines(self) -> list[Any]:
        """Return the only pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(LowerForInlining if kind is NativeLowering else kind, why) for kind, why in passes.passes]
        passes.finalize()
        return [passes]
