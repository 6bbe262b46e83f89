"""Bundles of arrays that kernels pass on together: named tuples in Python, one pointer in compiled code.

numba passes a named tuple as all that is in it, seven words for each array, at every call. A machine and its scratch
are two hundred arrays: most of the time to compile a kernel, and much of a call, went into that. A class under
`bundle` is instead laid out in memory once, when it first goes into a kernel.

A field takes these words of 8 bytes:

* an array: its owner (0 where Python keeps it), address, number of items, lengths, strides;
* another bundle: its owner, address;
* a number: itself.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types, utils
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate, make_callable_template
from numba.extending import (
    NativeValue,
    box,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)

__all__ = ["BundleType", "bundle"]

T = TypeVar("T", bound=type)

_WORD = ir.IntType(64)
_BYTES = 8


def bundle(made: T) -> T:
    """Decorator for a NamedTuple of arrays, numbers and other bundles, which kernels get as one pointer.

    Its fields cannot be assigned, and their places in memory are found when a kernel first gets it: an array must not
    be resized in place.
    """
    config: Any = numba.config  # whose annotations do not tell what is in it
    if config.DISABLE_JIT:
        return made
    own: dict[str, Any] = {
        "__doc__": made.__doc__,
        "__module__": made.__module__,
        "__qualname__": made.__qualname__,
        "__getstate__": lambda self: None,  # words are of this process
        "_words": cached_property(_words),
        "_address": cached_property(lambda self: _address_of(self._words)),
    }
    found = _BundleMeta(made.__name__, (made,), own)
    for name in ("_words", "_address"):
        own[name].__set_name__(found, name)
    typeof_impl.register(found)(_typeof)
    return found  # type: ignore[return-value]


class _BundleMeta(type):
    """Metaclass of bundles, by which numba recognises them."""


def _words(self: Any) -> np.ndarray:
    """Words in memory of the fields of a bundle."""
    words: list[int] = []
    for value in self:
        if isinstance(value, np.ndarray):
            words += [0, _address_of(value), value.size, *value.shape, *value.strides]
        elif isinstance(type(value), _BundleMeta):
            words += [0, value._address]
        elif isinstance(value, (float, np.floating)):
            words.append(int(np.float64(value).view(np.int64)))
        else:
            words.append(int(value))
    return np.array(words, np.int64)


def _address_of(array: np.ndarray) -> int:
    """Address of the items of an array: the first field behind the head of all objects (PyArrayObject_fields).

    `ctypes.data` gives it, too, but takes four times as long, and a run needs it for some hundred arrays.
    """
    return ctypes.c_void_p.from_address(id(array) + object.__basicsize__).value or 0


# -- types ---------------------------------------------------------------------------------------------------------


class BundleType(types.Type):
    """Type of a bundle, with fields of these types."""

    def __init__(self, made: type, kinds: tuple[types.Type, ...]) -> None:
        self.made, self.kinds = made, kinds
        text = repr((made.__module__, made.__qualname__, kinds))
        super().__init__(f"{made.__qualname__}-{hashlib.sha256(text.encode()).hexdigest()[:16]}")

    @property
    def key(self) -> Any:
        return self.made, self.kinds

    def place(self, number: int) -> int:
        """Index of the word at which a field begins."""
        return sum(_size(kind) for kind in self.kinds[:number])


class _ClassType(types.Callable, types.Opaque):
    """Type of the class of a bundle, which is a function in kernels."""

    def __init__(self, made: type) -> None:
        self.made = made
        super().__init__(f"class({made.__module__}.{made.__qualname__})")

    @property
    def key(self) -> type:
        return self.made

    def get_call_type(self, context: Any, args: Any, kws: Any) -> None:
        """Set the type of a call that makes a bundle; see `_Class`."""

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Any) -> type:
        return type(self)


def _size(kind: types.Type) -> int:
    if isinstance(kind, types.Array):
        return 3 + 2 * kind.ndim
    return 2 if isinstance(kind, BundleType) else 1


def _typeof(value: Any, c: Any) -> BundleType:
    return BundleType(type(value), tuple(typeof_impl(x, c) for x in value))


@typeof_impl.register(_BundleMeta)
def _typeof_class(made: type, c: Any) -> _ClassType:
    return _ClassType(made)


@register_model(BundleType)
class _BundleModel(models.StructModel):
    def __init__(self, manager: Any, kind: BundleType) -> None:
        super().__init__(manager, kind, [("owner", types.MemInfoPointer(types.voidptr)), ("words", types.voidptr)])


register_model(_ClassType)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, kind: BundleType, name: str) -> types.Type | None:  # type: ignore[override]
        names = kind.made._fields  # type: ignore[attr-defined]
        return kind.kinds[names.index(name)] if name in names else None


@infer_getattr
class _Class(AttributeTemplate):
    key = _ClassType

    def resolve___call__(self, kind: _ClassType) -> types.Function:
        signature = utils.pysignature(kind.made)

        def typer(*args: Any, **kws: Any) -> BundleType:
            given = signature.bind(*args, **kws).args
            return BundleType(kind.made, tuple(types.unliteral(x) for x in given))

        typer.pysig = signature  # type: ignore[attr-defined]
        return types.Function(make_callable_template(self.key, typer))


# -- fields --------------------------------------------------------------------------------------------------------


def _load(builder: Any, words: Any, number: int, kind: ir.Type, fixed: bool) -> Any:
    place = builder.gep(words, [_WORD(number)])
    made = builder.load(builder.bitcast(place, kind.as_pointer()))
    if fixed:  # nothing writes there while code holds the pointer, so it may be read once before a loop
        made.set_metadata("invariant.load", builder.module.add_metadata([]))
    return made


def _words_of(context: Any, builder: Any, kind: BundleType, value: Any) -> Any:
    words = cgutils.create_struct_proxy(kind)(context, builder, value=value).words
    return builder.bitcast(words, _WORD.as_pointer())


def _get(context: Any, builder: Any, words: Any, kind: types.Type, at: int, fixed: bool = True) -> Any:
    """Value of a field, as a borrowed reference."""
    void = ir.IntType(8).as_pointer()
    if isinstance(kind, types.Array):
        made = context.make_array(kind)(context, builder)
        item = context.get_data_type(kind.dtype)
        n = kind.ndim
        made.meminfo = _load(builder, words, at, void, fixed)
        made.parent = cgutils.get_null_value(made.parent.type)
        made.data = _load(builder, words, at + 1, item.as_pointer(), fixed)
        made.nitems = _load(builder, words, at + 2, _WORD, fixed)
        made.itemsize = context.get_constant(types.intp, context.get_abi_sizeof(item))
        made.shape = cgutils.pack_array(builder, [_load(builder, words, at + 3 + k, _WORD, fixed) for k in range(n)])
        strides = [_load(builder, words, at + 3 + n + k, _WORD, fixed) for k in range(n)]
        made.strides = cgutils.pack_array(builder, strides)
        return made._getvalue()
    if isinstance(kind, BundleType):
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.owner = _load(builder, words, at, void, fixed)
        made.words = _load(builder, words, at + 1, void, fixed)
        return made._getvalue()
    if isinstance(kind, types.Boolean):
        return builder.trunc(_load(builder, words, at, _WORD, fixed), ir.IntType(1))
    return _load(builder, words, at, context.get_value_type(kind), fixed)


def _put(context: Any, builder: Any, words: Any, kind: types.Type, at: int, value: Any) -> None:
    def store(number: int, x: Any) -> None:
        place = builder.gep(words, [_WORD(number)])
        builder.store(x, builder.bitcast(place, x.type.as_pointer()))

    if isinstance(kind, types.Array):
        given = context.make_array(kind)(context, builder, value=value)
        parts = [given.meminfo, given.data, given.nitems]
        parts += [*cgutils.unpack_tuple(builder, given.shape), *cgutils.unpack_tuple(builder, given.strides)]
    elif isinstance(kind, BundleType):
        given = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        parts = [given.owner, given.words]
    elif isinstance(kind, types.Boolean):
        parts = [builder.zext(value, _WORD)]
    else:
        parts = [value]
    for k, part in enumerate(parts):
        store(at + k, part)


@lower_getattr_generic(BundleType)
def _field(context: Any, builder: Any, kind: BundleType, value: Any, name: str) -> Any:
    number = kind.made._fields.index(name)  # type: ignore[attr-defined]
    words = _words_of(context, builder, kind, value)
    found = _get(context, builder, words, kind.kinds[number], kind.place(number))
    return impl_ret_borrowed(context, builder, kind.kinds[number], found)


# -- bundles that kernels make -------------------------------------------------------------------------------------


@lower_builtin(_ClassType, types.VarArg(types.Any))
def _make(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    kind = sig.return_type
    size = _BYTES * kind.place(len(kind.kinds))
    owner = context.nrt.meminfo_alloc_dtor(
        builder, context.get_constant(types.uintp, size), _destructor(context, builder.module, kind)
    )
    data = context.nrt.meminfo_data(builder, owner)
    words = builder.bitcast(data, _WORD.as_pointer())
    for number, (given, own) in enumerate(zip(sig.args, kind.kinds, strict=True)):
        value = context.cast(builder, args[number], given, own)
        if context.enable_nrt:
            context.nrt.incref(builder, own, value)
        _put(context, builder, words, own, kind.place(number), value)
    # what reads the fields takes them for constant: it must not be moved before they are written
    same = ir.FunctionType(data.type, [data.type])
    data = builder.asm(same, "", "=r,0,~{memory}", [data], side_effect=True)
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.owner, made.words = owner, data
    return made._getvalue()


def _destructor(context: Any, module: Any, kind: BundleType) -> Any:
    """Destructor of a bundle, void f(words, size, unused): its fields lose an owner."""
    void = ir.IntType(8).as_pointer()
    of = ir.FunctionType(ir.VoidType(), [void, context.get_value_type(types.uintp), void])
    function = cgutils.get_or_insert_function(module, of, f"cmbcontrol.{kind.name}.destructor")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block())
        words = builder.bitcast(function.args[0], _WORD.as_pointer())
        for number, own in enumerate(kind.kinds):
            if isinstance(own, (types.Array, BundleType)):
                value = _get(context, builder, words, own, kind.place(number), fixed=False)
                context.nrt.decref(builder, own, value)
        builder.ret_void()
    return function


# -- to and from Python --------------------------------------------------------------------------------------------


@unbox(BundleType)
def _unbox(kind: BundleType, value: Any, c: Any) -> NativeValue:
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.owner = cgutils.get_null_value(made.owner.type)
    place = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(made.words.type))
    address = c.pyapi.object_getattr_string(value, "_address")
    failed = cgutils.is_null(c.builder, address)
    with c.builder.if_then(c.builder.not_(failed), likely=True):
        c.builder.store(c.pyapi.long_as_voidptr(address), place)
        c.pyapi.decref(address)
    made.words = c.builder.load(place)
    return NativeValue(made._getvalue(), is_error=failed)


@box(BundleType)
def _box(kind: BundleType, value: Any, c: Any) -> Any:
    words = _words_of(c.context, c.builder, kind, value)
    fields = c.pyapi.tuple_new(len(kind.kinds))
    for number, own in enumerate(kind.kinds):
        field = _get(c.context, c.builder, words, own, kind.place(number))
        if c.context.enable_nrt:
            c.context.nrt.incref(c.builder, own, field)
        c.pyapi.tuple_setitem(fields, number, c.box(own, field))
    made = c.pyapi.unserialize(c.pyapi.serialize_object(kind.made))
    found = c.pyapi.call(made, fields)
    c.pyapi.decref(made)
    c.pyapi.decref(fields)
    if c.context.enable_nrt:
        c.context.nrt.decref(c.builder, kind, value)
    return found
