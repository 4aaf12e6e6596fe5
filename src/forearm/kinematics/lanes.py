"""Numbers side by side: ``Lanes``, a value type for compiled code that holds 2, 4 or 8 floats.

A kernel written with the functions here runs on plain floats and on lanes alike; it takes the type of
what it is given. LLVM makes one instruction of each where the processor has such wide registers. Left
to itself it does not: a loop over lanes inside a kernel of some length stays a loop.

    one = lanes(WIDTH, 1.0)            x, y = one * 3.0, lane_numbers(one)
    small = where(y < x, y, x)         if mask_bits(y < x) != 0: ...
    q = stack(32, one)                 put(q, 0, small); get(q, 0); get_lane(q, 0, 5)
"""

from __future__ import annotations

import operator
import os
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from forearm.errors import InvalidInput

WIDTHS = (2, 4, 8)
CONTRACT = ("contract",)
INT64 = ir.IntType(64)
DOUBLE = ir.DoubleType()


def natural_width() -> int:
    """How many floats one register of this processor holds; ``FOREARM_LANES`` overrules it."""
    given = os.environ.get("FOREARM_LANES")
    if given is not None:
        if given not in map(str, WIDTHS):
            raise InvalidInput("FOREARM_LANES", f"is {given!r}", f"Give one of {WIDTHS}.")
        return int(given)
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


class Lanes(types.Type):
    """``width`` floats."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"lanes{width}")


class Mask(types.Type):
    """``width`` truth values."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"mask{width}")


LANES = {width: Lanes(width) for width in WIDTHS}
MASKS = {width: Mask(width) for width in WIDTHS}


def llvm_type(kind: types.Type) -> ir.Type:
    return ir.VectorType(DOUBLE, kind.width) if isinstance(kind, Lanes) else DOUBLE


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.width))


@register_model(Mask)
class MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Mask) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.width))


def spread(builder: Any, value: Any, width: int) -> Any:
    """One float in every lane."""
    vector = ir.VectorType(DOUBLE, width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def widened(context: Any, builder: Any, given: types.Type, value: Any, wanted: types.Type) -> Any:
    """A number as the type ``wanted``: lanes as they are, scalars in every lane."""
    if given == wanted:
        return value
    scalar = context.cast(builder, value, given, types.float64)
    return spread(builder, scalar, wanted.width) if isinstance(wanted, Lanes) else scalar


def is_number(kind: types.Type) -> bool:
    return isinstance(kind, (Lanes, types.Float, types.Integer, types.IntegerLiteral))


def common(*kinds: types.Type) -> Any:
    """The lanes among ``kinds``, else a float; None if some are no numbers or of two widths."""
    if not all(map(is_number, kinds)):
        return None
    wide = {kind for kind in kinds if isinstance(kind, Lanes)}
    return None if len(wide) > 1 else next(iter(wide), types.float64)


SCALARS = (types.Float, types.Integer)


def add_operator(symbol: Any, instruction: str) -> None:
    """``+ - * /`` of lanes with lanes and with scalars."""

    @type_callable(symbol)
    def type_it(_context: Any) -> Any:
        def typer(a: types.Type, b: types.Type) -> types.Type | None:
            kind = common(a, b)
            return kind if isinstance(kind, Lanes) else None

        return typer

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = signature.return_type
        a, b = (widened(context, builder, t, v, wide) for t, v in zip(signature.args, args, strict=True))
        return getattr(builder, instruction)(a, b, flags=CONTRACT)

    pairs = [(Lanes, Lanes), *((Lanes, s) for s in SCALARS), *((s, Lanes) for s in SCALARS)]
    for a, b in pairs:
        lower_builtin(symbol, a, b)(lower)


def add_comparison(symbol: Any, predicate: str) -> None:
    """``< <= > >=``: a mask; false for what is not a number."""

    @type_callable(symbol)
    def type_it(_context: Any) -> Any:
        def typer(a: types.Type, b: types.Type) -> types.Type | None:
            kind = common(a, b)
            return MASKS[kind.width] if isinstance(kind, Lanes) else None

        return typer

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = common(*signature.args)
        a, b = (widened(context, builder, t, v, wide) for t, v in zip(signature.args, args, strict=True))
        return builder.fcmp_ordered(predicate, a, b)

    pairs = [(Lanes, Lanes), *((Lanes, s) for s in SCALARS), *((s, Lanes) for s in SCALARS)]
    for a, b in pairs:
        lower_builtin(symbol, a, b)(lower)


def add_mask_operator(symbol: Any, instruction: str) -> None:
    @type_callable(symbol)
    def type_it(_context: Any) -> Any:
        def typer(a: types.Type, b: types.Type) -> types.Type | None:
            return a if isinstance(a, Mask) and a == b else None

        return typer

    def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    lower_builtin(symbol, Mask, Mask)(lower)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    add_operator(_symbol, _instruction)
for _symbol, _predicate in ((operator.lt, "<"), (operator.gt, ">"), (operator.le, "<="), (operator.ge, ">=")):
    add_comparison(_symbol, _predicate)
for _symbol, _instruction in ((operator.and_, "and_"), (operator.or_, "or_")):
    add_mask_operator(_symbol, _instruction)


@type_callable(operator.neg)
def _type_negative(_context: Any) -> Any:
    return lambda a: a if isinstance(a, Lanes) else None


@lower_builtin(operator.neg, Lanes)
def _lower_negative(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@intrinsic(prefer_literal=True)
def lanes(_typing, width, value):
    """``value`` in each of ``width`` lanes; ``width`` is written as a number."""
    kind = LANES[width.literal_value]

    def lower(context, builder, signature, args):
        return widened(context, builder, signature.args[1], args[1], kind)

    return kind(width, value), lower


@intrinsic
def lane_numbers(_typing, like):
    """0, 1, 2, ... across the lanes; 0 for a scalar."""

    def lower(_context, _builder, _signature, _args):
        if isinstance(like, Lanes):
            return ir.Constant(llvm_type(like), [float(i) for i in range(like.width)])
        return ir.Constant(DOUBLE, 0.0)

    kind = like if isinstance(like, Lanes) else types.float64
    return kind(like), lower


@intrinsic
def lane_count(_typing, like):
    """How many lanes ``like`` has; 1 for a scalar. Known when the kernel is compiled."""
    count = like.width if isinstance(like, Lanes) else 1

    def lower(_context, _builder, _signature, _args):
        return ir.Constant(INT64, count)

    return types.int64(like), lower


def called(builder: Any, name: str, kind: types.Type, values: Any) -> Any:
    """LLVM's function ``name`` for this type, called."""
    suffix = f"v{kind.width}f64" if isinstance(kind, Lanes) else "f64"
    shape = llvm_type(kind)
    signature = ir.FunctionType(shape, [shape] * len(values))
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
    return builder.call(function, values)


@intrinsic
def fma(_typing, a, b, c):
    """a b + c, rounded once where the processor can. ``llvm.fma`` would insist, and call a library."""
    kind = common(a, b, c)

    def lower(context, builder, signature, args):
        values = [widened(context, builder, t, v, kind) for t, v in zip(signature.args, args, strict=True)]
        return called(builder, "fmuladd", kind, values)

    return kind(a, b, c), lower


def unary(name: str, doc: str) -> Any:
    @intrinsic
    def function(_typing, a):
        kind = common(a)

        def lower(context, builder, signature, args):
            return called(builder, name, kind, [widened(context, builder, signature.args[0], args[0], kind)])

        return kind(a), lower

    function.__doc__ = doc
    return function


square_root = unary("sqrt", "The square root.")
nearest_whole = unary("rint", "The nearest whole number, ties to even.")
absolute = unary("fabs", "The absolute value.")
whole_below = unary("floor", "The largest whole number that is not above.")


def extreme(predicate: str, doc: str) -> Any:
    @intrinsic
    def function(_typing, a, b):
        kind = common(a, b)

        def lower(context, builder, signature, args):
            x, y = (widened(context, builder, t, v, kind) for t, v in zip(signature.args, args, strict=True))
            return builder.select(builder.fcmp_ordered(predicate, x, y), x, y)

        return kind(a, b), lower

    function.__doc__ = doc
    return function


smaller = extreme("<", "The smaller of two, lane by lane; the second where one is not a number.")
larger = extreme(">", "The larger of two, lane by lane; the second where one is not a number.")


@intrinsic
def where(_typing, mask, a, b):
    """``a`` where the mask is true, else ``b``."""
    kind = LANES[mask.width] if isinstance(mask, Mask) else types.float64

    def lower(context, builder, signature, args):
        x, y = (
            widened(context, builder, t, v, kind) for t, v in zip(signature.args[1:], args[1:], strict=True)
        )
        return builder.select(args[0], x, y)

    return kind(mask, a, b), lower


@intrinsic
def mask_bits(_typing, mask):
    """The mask as a whole number: bit l is lane l."""

    def lower(_context, builder, _signature, args):
        if isinstance(mask, Mask):
            return builder.zext(builder.bitcast(args[0], ir.IntType(mask.width)), INT64)
        return builder.zext(
            builder.trunc(args[0], ir.IntType(1)) if args[0].type.width > 1 else args[0], INT64
        )

    return types.int64(mask), lower


@intrinsic
def turned_by_quadrants(_typing, quadrant, sine, cosine):
    """(sin, cos) of an angle from those of what is left of it beyond ``quadrant`` quarter turns."""
    kind = quadrant

    def lower(context, builder, _signature, args):
        whole = ir.VectorType(INT64, kind.width) if isinstance(kind, Lanes) else INT64

        def constant(value: int) -> Any:
            return ir.Constant(whole, [value] * kind.width if isinstance(kind, Lanes) else value)

        def with_sign(value: Any, sign: Any) -> Any:
            return builder.bitcast(builder.xor(builder.bitcast(value, whole), sign), llvm_type(kind))

        count = builder.fptosi(args[0], whole)
        odd = builder.icmp_unsigned("!=", builder.and_(count, constant(1)), constant(0))
        s, c = builder.select(odd, args[2], args[1]), builder.select(odd, args[1], args[2])
        sine_sign = builder.shl(builder.and_(count, constant(2)), constant(62))
        cosine_sign = builder.shl(builder.and_(builder.add(count, constant(1)), constant(2)), constant(62))
        pair = [with_sign(s, sine_sign), with_sign(c, cosine_sign)]
        return context.make_tuple(builder, types.UniTuple(kind, 2), pair)

    return types.UniTuple(kind, 2)(quadrant, sine, cosine), lower


# A kernel's scratch lies on its stack: an array would cost half a microsecond to make.


@intrinsic(prefer_literal=True)
def stack(_typing, size, like):
    """``size`` slots of the type of ``like``, their content undefined."""
    count = size.literal_value
    kind = like if isinstance(like, Lanes) else types.float64

    def lower(_context, builder, _signature, _args):
        with builder.goto_entry_block():
            slots = builder.alloca(ir.ArrayType(llvm_type(kind), count))
            slots.align = 64
        return builder.bitcast(slots, llvm_type(kind).as_pointer())

    return types.CPointer(kind)(size, like), lower


def place_of(context: Any, builder: Any, pointer: Any, kind: types.Type, index: Any) -> Any:
    return builder.gep(pointer, [context.cast(builder, index, kind, types.int64)])


@intrinsic
def get(_typing, slots, index):
    """The slot's value."""

    def lower(context, builder, signature, args):
        return builder.load(place_of(context, builder, args[0], signature.args[1], args[1]))

    return slots.dtype(slots, index), lower


@intrinsic
def put(_typing, slots, index, value):
    """Set a slot; a scalar goes to every lane."""

    def lower(context, builder, signature, args):
        value = widened(context, builder, signature.args[2], args[2], slots.dtype)
        builder.store(value, place_of(context, builder, args[0], signature.args[1], args[1]))
        return context.get_dummy_value()

    return types.none(slots, index, value), lower


def lane_place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where lane ``args[2]`` of slot ``args[1]`` lies."""
    slots = signature.args[0]
    index = context.cast(builder, args[1], signature.args[1], types.int64)
    lane = context.cast(builder, args[2], signature.args[2], types.int64)
    width = slots.dtype.width if isinstance(slots.dtype, Lanes) else 1
    floats = builder.bitcast(args[0], DOUBLE.as_pointer())
    return builder.gep(floats, [builder.add(builder.mul(index, ir.Constant(INT64, width)), lane)])


@intrinsic
def get_lane(_typing, slots, index, lane):
    """One lane of a slot."""

    def lower(context, builder, signature, args):
        return builder.load(lane_place(context, builder, signature, args))

    return types.float64(slots, index, lane), lower


@intrinsic
def put_lane(_typing, slots, index, lane, value):
    """Set one lane of a slot."""

    def lower(context, builder, signature, args):
        value = context.cast(builder, args[3], signature.args[3], types.float64)
        builder.store(value, lane_place(context, builder, signature, args))
        return context.get_dummy_value()

    return types.none(slots, index, lane, value), lower


@intrinsic
def slots_from(_typing, slots, start):
    """The slots from ``start`` on."""

    def lower(context, builder, signature, args):
        return place_of(context, builder, args[0], signature.args[1], args[1])

    return slots(slots, start), lower


@intrinsic
def add_and_fetch_before(_typing, counter, amount):
    """Add to the first entry of a whole-number array as one act that threads cannot come between.

    Returns what it was before.
    """

    def lower(context, builder, signature, args):
        place = context.make_array(signature.args[0])(context, builder, args[0]).data
        change = context.cast(builder, args[1], signature.args[1], types.int64)
        return builder.atomic_rmw("add", place, change, "monotonic")

    return types.int64(counter, amount), lower
