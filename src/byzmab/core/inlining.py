"""Functions that are compiled only to be inlined.

numba optimizes every function and makes machine code of it before it links it into its callers, where all of that is
done again. Ours are nested up to eight deep and inlined at every step. So what a compiled function calls is typed and
lowered, and no more: optimizing and machine code come once, with the loop in which everything ends up. What was
lowered is kept on disk, as LLVM's bitcode, so that the next loop which calls it need not have it typed again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
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

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> "UnoptimizedLibrary":
        """The library that was kept as such."""
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


def no_machine_code() -> Any:
    """What stands in the place of machine code: numba wants a builtin there that equals no other."""
    return [].clear


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerForInlining(NativeLowering):  # type: ignore[misc]
    """numba's lowering, into such a library."""

    _name = "byzmab_lower_for_inlining"

    def run_pass(self, state: Any) -> bool:
        """Lower the function and let callers find it; return that something changed."""
        state.library = UnoptimizedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        key = no_machine_code()
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


def without_literals(find: Callable[..., Any]) -> Callable[..., Any]:
    """numba's search for what is called, by the types of arguments; not one anew for each whole number in a call."""

    def kind_of(argument: Any) -> Any:
        whole = isinstance(argument, types.IntegerLiteral | types.BooleanLiteral)
        return types.unliteral(argument) if whole else argument

    def find_template(args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
        return find(tuple(map(kind_of, args)), {name: kind_of(argument) for name, argument in kws.items()})

    return find_template


class InnerFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """How such a function is written to files and read from them."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """A name that no file with machine code has."""
        return f"inner-{super().get_filename_base(fullname, abiflags)}"

    def check_cachable(self, result: Any) -> bool:
        """Whether the code may be kept: not if it has addresses of this process in it, or needs numba's threads."""
        return not (result.library.has_dynamic_globals or result.reload_init)

    def reduce(self, result: Any) -> tuple[Any, ...]:
        """What is pickled."""
        result.fndesc.typemap = result.fndesc.calltypes = None  # as numba does: not needed, and not picklable
        library, environments = result.library, tuple(result._find_referenced_environments())
        code = library.name, library._final_module.as_bitcode()
        return code, result.fndesc, result.environment, result.signature, environments

    def rebuild(self, target: Any, payload: tuple[Any, ...]) -> Any:
        """What a compilation would have given."""
        (name, bitcode), descriptor, environment, signature, environments = payload
        library = UnoptimizedLibrary.from_bitcode(target.codegen(), name, bitcode)
        return compile_result(
            target_context=target,
            typing_context=target.typing_context,
            entry_point=no_machine_code(),
            signature=signature,
            objectmode=False,
            lifted=(),
            fndesc=descriptor,
            library=library,
            environment=environment,
            reload_init=[],
            referenced_envs=environments,
        )


class InnerCache(FunctionCache):  # type: ignore[misc]
    """The files of one such function."""

    _impl_class = InnerFiles


class LateCache:
    """A cache that is opened when it is first needed: most functions that are imported never are."""

    def __init__(self, opened: Callable[[], Any]) -> None:
        self._open, self._cache = opened, None

    def _opened(self) -> Any:
        self._cache = self._cache or self._open()
        return self._cache

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kept result for a signature, None if there is none."""
        return self._opened().load_overload(signature, target)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a result."""
        self._opened().save_overload(signature, result)
