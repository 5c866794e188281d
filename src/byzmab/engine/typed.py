"""States whose arrays are attributes, in Python and in compiled loops alike: `state.pulls[agent, arm]`.

A state is declared once, as a class with one line for each number and array. The shape of an array is given in names of
sizes of the same state. Allocation, growth and aliasing follow from these lines, and so does the code that compiled
loops use: an attribute becomes a load of an address and of sizes. Only numba's public extension API is used.

Compiled loops get a state as one pointer to its words: a word for each number, and for each array its address and its
allocated shape. Loops compute addresses from the named sizes, which arrays share, so registers suffice. With bounds
checks (NUMBA_BOUNDSCHECK=1) they use the allocated shape of the very array, so an access outside of it always raises.
"""

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Integers, Words

CHECKED = numba.config.BOUNDSCHECK == 1
WORD = cgutils.intp_t
KINDS: dict[Any, tuple[Any, Any]] = {  # of annotations: numpy's type and numba's
    int: (np.int64, types.int64),
    np.uint64: (np.uint64, types.uint64),
    float: (np.float64, types.float64),
    Floats: (np.float64, types.float64),
    Integers: (np.int64, types.int64),
    Words: (np.uint64, types.uint64),
}
ANY = ""  # in the place of a size: the length that the array was given


class Field:
    """One line of a declaration: its name and annotation are known once the class is made."""

    about: str
    changes = False  # loops may change it

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner
        self.dtype, self.kind = KINDS[owner.__annotations__[name]]


class Number(Field):
    """One number of a state."""

    def __init__(self, about: str, changes: bool = False, of: Callable[[Any], int] | None = None) -> None:
        self.about = about
        self.changes = changes
        self.derived = of  # the number follows from others
        self.length = 1

    def __get__(self, state: Any, owner: type | None = None) -> Any:
        return self if state is None else state.words[state.slots[self.name]].view(self.dtype).item()

    def __set__(self, state: "TypedState", value: Any) -> None:
        if self.name in state.sizes:
            raise AttributeError(f"{self.name} is a size; use resize({self.name}=...), which reallocates arrays")
        self.write(state, value)

    def write(self, state: "TypedState", value: Any) -> None:
        """Write the word of this number."""
        state.words[state.slots[self.name]] = np.array(value, self.dtype).view(np.int64)


class Instead(NamedTuple):
    """Where an array needs no memory of its own."""

    of: str  # the array whose first rows it shares; "" if the experiment has no use for it
    when: Callable[[Any], bool]


class Array(Field):
    """One array of a state."""

    def __init__(self, shape: tuple[str | int, ...], about: str, instead: Instead | None) -> None:
        self.shape, self.about, self.instead = shape, about, instead
        self.length = 1 + len(shape)  # in words: its address, and its allocated shape

    def __get__(self, state: Any, owner: type | None = None) -> Any:
        return self if state is None else state.arrays[self.name]

    def __set__(self, state: "TypedState", values: Any) -> None:
        """Copy values into the array; one of any length is allocated for them."""
        values, shape = np.asarray(values), self.shape_in(state)
        free = [size == ANY for size in self.shape]
        if values.ndim != len(shape) or any(
            not any_length and given != wanted
            for any_length, given, wanted in zip(free, values.shape, shape, strict=True)
        ):
            raise ValueError(f"{self.name} has shape {shape} ({self.shape}), got {values.shape}")
        if any(free):
            state.hold(self, np.array(values, self.dtype, order="C"))
        elif state.arrays[self.name].shape != shape:
            raise ValueError(f"{self.name} is not allocated in this state")
        else:
            state.arrays[self.name][...] = values

    def shape_in(self, state: "TypedState") -> tuple[int, ...]:
        """Return the shape that the array has in a state; an axis of any length is empty until values are set."""
        return tuple(
            size if isinstance(size, int) else 0 if size == ANY else getattr(state, size) for size in self.shape
        )


def size(about: str, of: Callable[[Any], int] | None = None) -> Any:
    """Declare a whole number that shapes are made of, given or computed from others by `of`."""
    return Number(about, of=of)


def setting(about: str) -> Any:
    """Declare a number that stays as it is while loops run."""
    return Number(about)


def progress(about: str) -> Any:
    """Declare a number that loops change."""
    return Number(about, changes=True)


def array(*shape: str | int, about: str, unless: Callable[[Any], bool] | None = None, shares: str = "") -> Any:
    """Declare an array of a shape, in names of sizes or whole numbers.

    Where `unless` holds, the array shares the first rows of the array `shares`, or is not allocated.
    """
    return Array(shape, about, Instead(shares, unless) if unless else None)


class TypedState:
    """The numbers and arrays of a declaration, and the words that compiled loops are given."""

    fields: ClassVar[dict[str, Any]] = {}
    slots: ClassVar[dict[str, int]] = {}  # the first word of each field
    sizes: ClassVar[frozenset[str]] = frozenset()
    layout: ClassVar[str] = ""  # a digest of what stands where: machine code that was kept is for one layout
    numba_type: ClassVar["StateType"]  # with all fields
    root_type: ClassVar["StateType"]  # with those of the oldest base: what loops of ours are compiled for

    def __init_subclass__(cls) -> None:
        """Lay out the fields of all bases, the oldest first: a state serves loops that were compiled for its base."""
        again = [name for name in vars(cls) if isinstance(vars(cls)[name], Field) and name in cls.fields]
        if again:
            raise TypeError(f"{cls.__name__} declares {', '.join(again)} again; a base has declared it")
        cls.fields = {
            name: field
            for kind in reversed(cls.__mro__)
            for name, field in vars(kind).items()
            if isinstance(field, Field)
        }
        ends = np.cumsum([0, *(field.length for field in cls.fields.values())])
        cls.slots = dict(zip(cls.fields, ends.tolist(), strict=False))
        shapes = {name for field in cls.fields.values() if isinstance(field, Array) for name in field.shape}
        unknown = {name for name in shapes if isinstance(name, str) and name and name not in cls.fields}
        if unknown:
            raise TypeError(f"{cls.__name__} has shapes of unknown sizes: {', '.join(sorted(unknown))}")
        cls.sizes = frozenset(name for name in shapes if isinstance(name, str) and name)
        layout = [
            (name, field.kind.name, vars(field).get("shape"), field.changes) for name, field in cls.fields.items()
        ]
        cls.layout = hashlib.sha256(repr(layout).encode()).hexdigest()
        cls.numba_type = StateType(f"{cls.__module__}.{cls.__qualname__}")
        cls.root_type = next(vars(kind)["numba_type"] for kind in reversed(cls.__mro__) if "numba_type" in vars(kind))
        SCHEMAS[cls.numba_type.name] = cls

    def __init__(self, **numbers: Any) -> None:
        """Allocate the arrays that are needed with these numbers; all others are 0."""
        self.words = np.zeros(sum(field.length for field in self.fields.values()), np.int64)
        self.address = self.words.ctypes.data
        self.arrays: dict[str, Any] = {}
        self.resize(**numbers)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.fields and name not in ("words", "address", "arrays"):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        super().__setattr__(name, value)

    def resize(self, **numbers: Any) -> Self:
        """Set numbers, sizes among them, and reallocate what they change; arrays keep what is in them."""
        for name, number in numbers.items():
            field = self.fields.get(name)
            if not isinstance(field, Number):
                raise TypeError(f"{type(self).__name__} has no number {name!r}")
            field.write(self, number)
        self._derive()
        grown = {name for name, field in self.fields.items() if isinstance(field, Array) and self._reallocate(field)}
        for name, field in self.fields.items():
            if isinstance(field, Array) and name not in grown and self._shared(field):
                self._share(field)
        return self

    def _derive(self) -> None:
        """Compute the numbers that follow from others, in whatever order they are declared."""
        numbers = [field for field in self.fields.values() if isinstance(field, Number)]
        before = None
        while before is None or not np.array_equal(before, self.words):
            before = self.words.copy()
            for number in numbers:
                if number.derived is not None:
                    number.write(self, number.derived(self))

    def whole(self) -> Any:
        """Return the state as functions take it that read the fields of its own class."""
        return Whole(self)

    def _shared(self, field: Array) -> bool:
        return field.instead is not None and field.instead.when(self)

    def _reallocate(self, field: Array) -> bool:
        """Give an array of its own the shape that it has now; return False for one that has no memory of its own."""
        if self._shared(field):
            return False
        shape, before = field.shape_in(self), self.arrays.get(field.name)
        if ANY in field.shape and before is not None:
            return True
        if before is None or before.shape != shape or before.base is not None:  # a view shared the memory of another
            after = np.zeros(shape, field.dtype)
            if before is not None and before.size:
                kept = tuple(slice(min(pair)) for pair in zip(shape, before.shape, strict=True))
                after[kept] = before[kept]
            self.hold(field, after)
        return True

    def _share(self, field: Array) -> None:
        """Let an array share the first rows of another one, or be empty."""
        other, shape = field.instead.of if field.instead else "", field.shape_in(self)
        if other and self._shared(self.fields[other]):
            self._share(self.fields[other])
        if not other or not self.arrays[other].size:
            self.hold(field, np.zeros((0,) * len(shape), field.dtype))
            return
        first = self.arrays[other][: shape[0]]
        if first.shape != shape:
            raise ValueError(f"{field.name} has shape {shape} and cannot share {other} of {first.shape}")
        self.hold(field, first)

    def hold(self, field: Array, values: Any) -> None:
        """Point to the memory of an array."""
        self.arrays[field.name] = values
        slot = self.slots[field.name]
        self.words[slot] = values.ctypes.data if values.size else 0
        self.words[slot + 1 : slot + field.length] = values.shape


class StateType(types.Type):  # type: ignore[misc]
    """numba's type of a state: one pointer to its words."""

    def __init__(self, schema: str) -> None:
        super().__init__(schema)


class Whole(NamedTuple):
    """A state as loops get it that read the fields of its own class, not only those of the oldest base."""

    state: TypedState

    @property
    def address(self) -> int:
        """Return the address of the words of the state."""
        return self.state.address


SCHEMAS: dict[str, type[TypedState]] = {}


@typeof_impl.register(TypedState)  # type: ignore[untyped-decorator]
def _type_of(state: TypedState, context: Any) -> StateType:
    return type(state).root_type


@typeof_impl.register(Whole)  # type: ignore[untyped-decorator]
def _type_of_whole(whole: Whole, context: Any) -> StateType:
    return type(whole.state).numba_type


@register_model(StateType)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


@unbox(StateType)  # type: ignore[untyped-decorator]
def _unbox(kind: Any, state: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(state, "address")
    pointer = c.builder.inttoptr(c.pyapi.number_as_ssize_t(address), c.context.get_value_type(kind))
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = StateType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Return the type of an attribute, None where there is none of this name."""
        field = SCHEMAS[kind.name].fields.get(name)
        if isinstance(field, Array):
            return types.Array(field.kind, len(field.shape), "C")
        return field.kind if isinstance(field, Number) else None


def _load(builder: Any, state: Any, slot: int, changes: bool) -> Any:
    """Load a word; one that no loop changes is loaded once, however much is stored in between."""
    word = builder.load(builder.gep(state, [WORD(slot)]))
    if not changes:
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_getattr_generic(StateType)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, kind: Any, state: Any, name: str) -> Any:
    schema = SCHEMAS[kind.name]
    field, slot = schema.fields[name], schema.slots[name]
    if isinstance(field, Number):
        word = _load(builder, state, slot, field.changes)
        return builder.bitcast(word, context.get_value_type(field.kind)) if field.kind == types.float64 else word

    def axis_size(axis: int, size: str | int) -> Any:
        if isinstance(size, int) and not CHECKED:
            return WORD(size)
        shared = isinstance(size, str) and size != ANY and not CHECKED
        return _load(builder, state, schema.slots[str(size)] if shared else slot + 1 + axis, False)

    kind = types.Array(field.kind, len(field.shape), "C")
    made = cgutils.create_struct_proxy(kind)(context, builder)
    shape = [axis_size(axis, size) for axis, size in enumerate(field.shape)]
    step = itemsize = WORD(np.dtype(field.dtype).itemsize)
    strides: list[Any] = []
    items = WORD(1)
    for length in reversed(shape):
        strides.insert(0, step)
        step, items = builder.mul(step, length), builder.mul(items, length)
    data = builder.inttoptr(_load(builder, state, slot, False), made.data.type)
    made.data, made.itemsize, made.nitems = data, itemsize, items
    made.shape, made.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
    made.meminfo, made.parent = (cgutils.get_null_value(part.type) for part in (made.meminfo, made.parent))
    return made._getvalue()


@lower_setattr_generic(StateType)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    kind, given = signature.args
    schema = SCHEMAS[kind.name]
    field = schema.fields[name]
    if not (isinstance(field, Number) and field.changes):
        raise TypeError(f"a compiled loop cannot set {name}, which is declared as an array, a size or a setting")
    word = context.cast(builder, arguments[1], given, field.kind)
    word = builder.bitcast(word, WORD) if field.kind == types.float64 else word
    builder.store(word, builder.gep(arguments[0], [WORD(schema.slots[name])]))


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def as_schema(typing_context: Any, state: Any, schema: Any) -> Any:
    """Return the same state for a function that reads the fields of a schema, which is named by a constant."""

    def same_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return StateType(schema.literal_value)(state, schema), same_pointer


@intrinsic  # type: ignore[untyped-decorator]
def _as_words(typing_context: Any, values: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        given = context.make_array(signature.args[0])(context, builder, arguments[0])
        for part in ("data", "itemsize", "nitems", "shape", "strides", "meminfo", "parent"):
            setattr(made, part, getattr(given, part))
        return made._getvalue()

    return types.Array(types.uint64, values.ndim, values.layout)(values), generate


@intrinsic  # type: ignore[untyped-decorator]
def _with_last(typing_context: Any, values: Any, length: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        shape = [*cgutils.unpack_tuple(builder, made.shape)[:-1], arguments[1]]
        step = WORD(8)
        strides: list[Any] = []
        for size in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, size)
        made.shape, made.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
        return made._getvalue()

    return values(values, types.int64), generate


@compiled
def with_last(values: Floats, length: int) -> Floats:
    """Return the same array, whose last axis has a length that the compiler knows: it unrolls loops over that."""
    return values if CHECKED else _with_last(values, length)


@compiled
def unsigned(values: Integers) -> Words:
    """Return the same whole numbers as words, which have no sign: numba then compiles no test for negative indices."""
    return _as_words(values)  # type: ignore[no-any-return]
