#!/usr/bin/env python3
"""Writes what NumPy (and PyTorch, for gradients) give, for tests/numpy/*.rl to compare with.

In: Debian's python3-numpy and python3-torch; a folder, or none. Out, there or beside this file: for each suite a script NAME.rl with the functions in
Replay and NAME.npz with inputs and results (see compare.rl). The results are committed: comparing needs no Python.
Differences from NumPy that are meant (SPEC.md lists them) are left out or written as Replay has them:
  - f32 with i64 or bool is f32, not f64;   - bools count as i64 in arithmetic;
  - eigenvectors and singular vectors have either sign, so products that do not show it are compared."""
import os
import sys
import warnings
import numpy as np
import torch

warnings.simplefilter("ignore")
np.seterr(all="ignore")
here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.relpath(__file__))
rng = np.random.RandomState(5)
CODES = {"bool": 0, "int64": 1, "float32": 2, "float64": 3}


class Suite:
    def __init__(self, name, what):
        self.name, self.what, self.x, self.calls = name, what, [], []
        self.meta, self.values, self.count = [], [], 0

    def input(self, a):
        self.x.append(np.asarray(a))
        return len(self.x) - 1

    def case(self, text, f, rows):
        """text: the function in Replay; f: in Python; rows: tuples of input numbers."""
        kept = []
        for row in rows:
            try:
                y = f(*[self.x[i] for i in row])
            except Exception:
                y = None
            if y is None:
                self.meta += [-1, 0]
            else:
                y = np.asarray(y)
                if y.dtype == np.int32 or y.dtype == np.uint8: y = y.astype(np.int64)
                self.meta += [CODES[str(y.dtype)], y.ndim] + list(y.shape)
                self.values.append(y.astype(np.float64).ravel())
            kept.append(row)
        if kept:
            self.calls.append((text, np.array(kept, dtype=np.int64)))
            self.count += len(kept)

    def write(self, slack=1):
        d = {"meta": np.array(self.meta, dtype=np.int64), "values": np.concatenate(self.values)}
        for i, a in enumerate(self.x): d["x.%d" % i] = a
        for k, (_, w) in enumerate(self.calls): d["which.%d" % k] = w
        np.savez_compressed(os.path.join(here, self.name + ".npz"), **d)
        with open(os.path.join(here, self.name + ".rl"), "w") as out:
            out.write("# %s.rl: %s Written by generate.py.\nimport \"./compare.rl\" as compare\nfunctions = (\n" % (self.name, self.what))
            for text, _ in self.calls:
                out.write("  (\"%s\", %s),\n" % (text.replace("\\", "\\\\").replace("\"", "\\\""), text))
            out.write(")\n(count, wrong) = compare.run(\"%s\", functions, slack = %s)\n" % (os.path.join(here, self.name + ".npz"), slack))
            out.write("print(format(\"%s: {} comparisons, {} differ\", count, wrong))\nassert(wrong == 0, \"results differ from the stored ones\")\n" % self.name)
        print("%s: %d comparisons" % (self.name, self.count))


SHAPES = [(), (1,), (4,), (0,), (2, 3), (3, 1), (0, 3), (2, 0), (2, 3, 2), (1, 2, 1), (2, 1, 3, 2)]


def numbers(shape, dtype, lo=-2.0, hi=2.0):
    n = int(np.prod(shape))
    v = rng.uniform(lo, hi, n)
    if dtype == "int64": v = rng.randint(-4, 5, n)
    if dtype == "bool": v = rng.randint(0, 2, n)
    return np.asarray(v).astype(dtype).reshape(shape)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e-300, 5e-324, 1e300, -1e300, 700, 1e-8, 3.0])
SPECIAL32 = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, -1e30, 80, 1e-5, 2.5], dtype=np.float32)


def ranks(s, least, most=8, dtypes=None):
    return [(i,) for i, a in enumerate(s.x) if least <= a.ndim <= most and (dtypes is None or str(a.dtype) in dtypes)]


def elementwise():
    s = Suite("elementwise", "functions of one and of two arguments, over shapes, dtypes and special values.")
    for d in ("float64", "float32", "int64", "bool"):
        for shape in SHAPES[:9]: s.input(numbers(shape, d))
    s.input(SPECIAL), s.input(SPECIAL32), s.input(np.abs(numbers((3, 4), "float64")) + 0.1), s.input(np.abs(numbers((5,), "float32")) + 0.1)
    floats = ("float64", "float32", "int64")
    F = [("exp", np.exp), ("expm1", np.expm1), ("log", np.log), ("log1p", np.log1p), ("log2", np.log2), ("sqrt", np.sqrt), ("cbrt", np.cbrt),
         ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh),
         ("tanh", np.tanh), ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh)]
    for n, f in F: s.case(n, f, [r for r in ranks(s, 0, dtypes=floats) if not (n in ("sin", "cos", "tan") and s.x[r[0]].size == 18)])
    for n, f in [("abs", np.abs), ("square", np.square), ("fn(x) = -x", np.negative)]: s.case(n, f, ranks(s, 0, dtypes=floats))
    for n, f in [("sign", np.sign), ("floor", np.floor), ("ceil", np.ceil), ("round", np.rint)]: s.case(n, f, ranks(s, 0, dtypes=("float64", "float32")))
    for n, f in [("isnan", np.isnan), ("isfinite", np.isfinite)]: s.case(n, f, ranks(s, 0))
    s.case("reciprocal", np.reciprocal, ranks(s, 0, dtypes=("float64", "float32")))
    s.case("fn(x) = not x", np.logical_not, ranks(s, 0, dtypes=("bool",)))
    T = torch.nn.functional
    def th(f): return lambda x: f(torch.tensor(x)).numpy()
    for n, f in [("sigmoid", torch.sigmoid), ("relu", T.relu), ("softplus", T.softplus), ("silu", T.silu), ("elu", T.elu), ("erf", torch.erf), ("erfc", torch.erfc)]:
        s.case(n, th(f), [r for r in ranks(s, 0, dtypes=("float64", "float32")) if np.isfinite(s.x[r[0]]).all()])
    s.case("leaky_relu", th(T.leaky_relu), ranks(s, 0, dtypes=("float64", "float32")))
    pos = [r for r in ranks(s, 1, dtypes=("float64", "float32")) if s.x[r[0]].size and (s.x[r[0]] > 0).all()]
    s.case("lgamma", th(torch.lgamma), pos), s.case("digamma", th(torch.digamma), pos)

    def num(f):
        def g(a, b):
            if a.dtype == bool and b.dtype == bool: a, b = a.astype(np.int64), b.astype(np.int64)
            d = np.promote_types(a.dtype, b.dtype)
            if np.float32 in (a.dtype, b.dtype) and np.float64 not in (a.dtype, b.dtype): d = np.dtype(np.float32)
            if d != np.bool_ and f not in (np.equal,): a, b = a.astype(d), b.astype(d)  # NumPy 1 looks at a scalar's value too
            y = np.asarray(f(a, b))
            return y.astype(np.float32) if y.dtype == np.float64 and np.float64 not in (a.dtype, b.dtype) and np.float32 in (a.dtype, b.dtype) else y
        return g
    pairs, special = [], [(36, 36), (37, 37)]
    first = {d: 9 * i for i, d in enumerate(("float64", "float32", "int64", "bool"))}
    for a in first.values():
        for b in first.values():
            for i, j in [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2), (4, 4), (4, 0), (5, 4), (4, 5), (6, 6), (8, 8), (8, 1), (3, 3), (7, 7), (2, 5), (3, 2)]:
                if (i, j) == (2, 5): continue  # both would grow: an error here, by design
                pairs.append((a + i, b + j))
    rev = [(36, s.input(SPECIAL[::-1].copy())), (37, s.input(SPECIAL32[::-1].copy()))]
    for n, f in [("fn(a, b) = a + b", np.add), ("fn(a, b) = a - b", np.subtract), ("fn(a, b) = a * b", np.multiply)]: s.case(n, num(f), pairs + special + rev)
    for n, f in [("maximum", np.maximum), ("minimum", np.minimum)]: s.case(n, num(f), [p for p in pairs if not (s.x[p[0]].dtype == bool and s.x[p[1]].dtype == bool)] + rev)
    nb = [p for p in pairs if bool not in (s.x[p[0]].dtype, s.x[p[1]].dtype)]
    fl = [p for p in nb if "float" in str(s.x[p[0]].dtype) or "float" in str(s.x[p[1]].dtype)]
    s.case("fn(a, b) = a / b", num(np.true_divide), fl + rev)
    s.case("atan2", num(np.arctan2), fl + rev), s.case("hypot", num(np.hypot), fl + rev)
    for n, f in [("==", np.equal), ("!=", np.not_equal), ("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal)]:
        s.case("fn(a, b) = a %s b" % n, f, [p for p in pairs if s.x[p[0]].ndim or s.x[p[1]].ndim] + special + rev)
    ii = [p for p in nb if s.x[p[0]].dtype == np.int64 and s.x[p[1]].dtype == np.int64 and (s.x[p[1]] != 0).all()]
    s.case("fn(a, b) = a // b", np.floor_divide, ii), s.case("fn(a, b) = a % b", np.remainder, ii)
    s.case("fn(a, b) = a // b", np.floor_divide, [p for p in fl if "float" in str(s.x[p[0]].dtype) and s.x[p[0]].dtype == s.x[p[1]].dtype and (s.x[p[1]] != 0).all()])
    s.case("fn(a, b) = abs(a) ^ b", num(lambda a, b: np.abs(a) ** b), fl)
    s.case("fn(a, b) = where(a > 0, a, b)", num(lambda a, b: np.where(a > 0, a, b).astype(np.result_type(a, b))), [p for p in nb if s.x[p[0]].ndim])
    s.write(4)


def reduce():
    s = Suite("reduce", "reductions, scans and sorting, over axes, keepdims, dtypes, empty arrays and nans.")
    for d in ("float64", "float32", "int64", "bool"):
        for shape in SHAPES: s.input(numbers(shape, d))
    s.input(np.array([1.0, np.nan, 3.0])), s.input(np.array([[1.0, np.inf], [np.nan, -np.inf]])), s.input(np.array([2.0, 2.0, 1.0, 1.0, 3.0])), s.input(np.array([[-0.0, 0.0]]))
    s.input(np.array([1e200, 1e200])), s.input(np.array([-1000.0, -1000.5]))
    no = ("float64", "float32", "int64")
    for axis, least in [("none", 0), ("0", 1), ("-1", 1), ("1", 2), ("(0, 1)", 2), ("(-1, 0)", 2), ("2", 3)]:
        pa = None if axis == "none" else eval(axis)
        for keep in (False, True):
            k = ", axis = %s%s" % (axis, ", keepdims = true" if keep else "")
            def R(n, f, rows): s.case("fn(x) = %s(x%s)" % (n, k), f, rows)
            al, nm, fl = ranks(s, least), ranks(s, least, dtypes=no), ranks(s, least, dtypes=("float64", "float32"))
            R("sum", lambda x: np.sum(x, axis=pa, keepdims=keep), al)
            R("mean", lambda x: np.mean(x, axis=pa, keepdims=keep), nm)
            R("prod", lambda x: np.prod(x, axis=pa, keepdims=keep), al)
            R("max", lambda x: np.max(x, axis=pa, keepdims=keep), al)
            R("min", lambda x: np.min(x, axis=pa, keepdims=keep), al)
            R("any", lambda x: np.any(x, axis=pa, keepdims=keep), ranks(s, least, dtypes=("bool",)))
            R("all", lambda x: np.all(x, axis=pa, keepdims=keep), ranks(s, least, dtypes=("bool",)))
            R("var", lambda x: np.var(x, axis=pa, keepdims=keep), fl)
            R("std", lambda x: np.std(x, axis=pa, keepdims=keep), fl)
            R("norm", lambda x: np.sqrt(np.sum(x * x, axis=pa, keepdims=keep)), fl)
            R("median", lambda x: np.median(x, axis=pa, keepdims=keep), [r for r in fl if s.x[r[0]].size])
            R("logsumexp", lambda x: torch.logsumexp(torch.tensor(x), dim=tuple(range(x.ndim)) if pa is None else pa, keepdim=keep).numpy(), [r for r in fl if s.x[r[0]].size and s.x[r[0]].ndim])
            if not isinstance(pa, tuple) and not keep:
                R("argmax", lambda x: np.argmax(x, axis=pa), nm)
                R("argmin", lambda x: np.argmin(x, axis=pa), nm)
                R("cumsum", lambda x: np.cumsum(x, axis=pa), nm)
                R("cumprod", lambda x: np.cumprod(x, axis=pa), nm)
                R("count_nonzero", lambda x: np.asarray(np.count_nonzero(x, axis=pa)), al)
                if pa is not None:
                    R("cummax", lambda x: np.maximum.accumulate(x, axis=pa), [r for r in nm if s.x[r[0]].shape[pa]])
                    R("sort", lambda x: np.sort(x, axis=pa, kind="stable"), nm)
                    R("argsort", lambda x: np.argsort(x, axis=pa, kind="stable"), nm)
                    R("softmax", lambda x: torch.softmax(torch.tensor(x), pa).numpy(), [r for r in fl if np.isfinite(s.x[r[0]]).all()])
                    R("log_softmax", lambda x: torch.log_softmax(torch.tensor(x), pa).numpy(), [r for r in fl if np.isfinite(s.x[r[0]]).all()])
    s.case("fn(x) = var(x, ddof = 1)", lambda x: np.var(x, ddof=1), [r for r in ranks(s, 1, dtypes=("float64",)) if s.x[r[0]].size > 1])
    s.write(4)


def shapes():
    s = Suite("shapes", "shapes, indexing and places.")
    for d in ("float64", "float32", "int64", "bool"):
        for shape in SHAPES: s.input(numbers(shape, d))
    for text, f, least in [
            ("fn(x) = reshape(x, (-1,))", lambda x: x.reshape(-1), 0), ("flatten", None, 0), ("fn(x) = transpose(x)", np.transpose, 0), ("fn(x) = x'", lambda x: np.swapaxes(x, -1, -2), 2),
            ("fn(x) = swap_axes(x, 0, -1)", lambda x: np.swapaxes(x, 0, -1), 1), ("fn(x) = flip(x)", np.flip, 1), ("fn(x) = flip(x, 0)", lambda x: np.flip(x, 0), 1),
            ("fn(x) = roll(x, 1)", lambda x: np.roll(x, 1), 1), ("fn(x) = roll(x, -2, 0)", lambda x: np.roll(x, -2, 0), 1), ("fn(x) = tile(x, 2)", lambda x: np.tile(x, 2), 1),
            ("fn(x) = tile(x, (2, 1))", lambda x: np.tile(x, (2, 1)), 1), ("fn(x) = repeat(x, 2)", lambda x: np.repeat(x, 2), 1), ("fn(x) = repeat(x, 3, axis = 0)", lambda x: np.repeat(x, 3, axis=0), 1),
            ("fn(x) = concat((x, x))", lambda x: np.concatenate((x, x)), 1), ("fn(x) = concat((x, x), axis = -1)", lambda x: np.concatenate((x, x), axis=-1), 1),
            ("fn(x) = stack((x, x))", lambda x: np.stack((x, x)), 1), ("fn(x) = stack((x, x), axis = -1)", lambda x: np.stack((x, x), axis=-1), 1),
            ("fn(x) = tril(x)", np.tril, 2), ("fn(x) = triu(x, 1)", lambda x: np.triu(x, 1), 2), ("fn(x) = squeeze(x)", np.squeeze, 1), ("fn(x) = x[::-1]", lambda x: x[::-1], 1), ("fn(x) = x[1:]", lambda x: x[1:], 1),
            ("fn(x) = x[:-1]", lambda x: x[:-1], 1), ("fn(x) = x[..., ::2]", lambda x: x[..., ::2], 1), ("fn(x) = x[none, ...]", lambda x: x[None, ...], 1), ("fn(x) = x[:, none]", lambda x: x[:, None], 1),
            ("fn(x) = x[..., -1]", lambda x: x[..., -1], 1), ("fn(x) = x[0]", lambda x: x[0], 1), ("fn(x) = x[[0, 0]]", lambda x: x[np.array([0, 0])], 1), ("fn(x) = x[-3:3:2]", lambda x: x[-3:3:2], 1),
            ("fn(x) = x[:, [1, 0]]", lambda x: x[:, np.array([1, 0])], 2), ("fn(x) = x[1, :]", lambda x: x[1, :], 2), ("fn(x) = x[:, 0:1]", lambda x: x[:, 0:1], 2), ("fn(x) = x[[0, 1], [0, 0]]", lambda x: x[np.array([0, 1]), np.array([0, 0])], 2),
            ("fn(x) = x[x > 0]", lambda x: x[x > 0], 1), ("fn(x) = take(x, [0, 0])", lambda x: np.take(x, [0, 0]), 1), ("fn(x) = take(x, [0, -1], axis = -1)", lambda x: np.take(x, [0, -1], axis=-1), 1),
            ("fn(x) = take_along(x, argsort(x, axis = -1), axis = -1)", lambda x: np.take_along_axis(x, np.argsort(x, axis=-1, kind="stable"), -1), 1), ("unique", np.unique, 1),
            ("fn(x) = pad(x, 1)", lambda x: np.pad(x, 1), 1), ("fn(x) = pad(x, (1, 2))", lambda x: np.pad(x, (1, 2)), 1), ("fn(x) = diag(x)", np.diag, 1), ("fn(x) = diag(x, 1)", lambda x: np.diag(x, 1), 1),
            ("fn(x) = expand(x, (2, 3, 4))", lambda x: np.broadcast_to(x, (2, 3, 4)), 0), ("zeros_like", np.zeros_like, 0), ("ones_like", np.ones_like, 0), ("f64", lambda x: x.astype(np.float64), 0), ("f32", lambda x: x.astype(np.float32), 0),
            ("fn(x) = i64(floor(f64(x)))", lambda x: np.floor(x.astype(np.float64)).astype(np.int64), 0), ("bool", lambda x: x.astype(bool), 0), ("fn(x) = size(x)", lambda x: np.int64(x.size), 0), ("fn(x) = searchsorted(sort(reshape(x, (-1,))), reshape(x, (-1,)))", lambda x: np.searchsorted(np.sort(x.ravel()), x.ravel()), 0)]:
        if f is None: continue
        dt = ("float64", "float32", "int64") if "sort" in text or "unique" in text or "> 0" in text or "pad" in text else None
        s.case(text, f, [r for r in ranks(s, least, 2 if "diag" in text else 3 if "None" in text or "none" in text or "stack" in text or "expand" in text else 8, dt) if not (text == "fn(x) = tril(x)" and s.x[r[0]].ndim < 2) and not ("pad(x, (1" in text and s.x[r[0]].ndim != 1) and not ("tile(x, (2" in text and s.x[r[0]].ndim > 2)])
    s.write()


def linear():
    s = Suite("linear", "products, equations and factorisations.")
    for d in ("float64", "float32", "int64"):
        for shape in [(3,), (2, 3), (3, 2), (3, 3), (2, 3, 3), (2, 1, 3, 2), (0, 3), (3, 0), (1, 3)]: s.input(numbers(shape, d))
    n = len(s.x)
    pairs = [(i, j) for b in (0, 9, 18) for i in range(b, b + 9) for j in range(b, b + 9)]
    def ok(f):
        def good(r):
            try: return f(s.x[r[0]], s.x[r[1]]) is not None
            except Exception: return False
        return good
    s.case("fn(a, b) = a @ b", np.matmul, [p for p in pairs if s.x[p[0]].shape != (2, 3, 3) or s.x[p[1]].shape != (2, 1, 3, 2)])  # there both batches would grow: an error here
    s.case("dot", np.dot, [p for p in pairs if ok(np.dot)(p)]), s.case("outer", np.outer, pairs)
    s.case("trace", np.trace, [(i,) for i in range(n) if s.x[i].ndim >= 2])
    sq, spd = [], []
    for d in ("float64", "float32"):
        for shape in [(1, 1), (2, 2), (4, 4), (3, 2, 2), (2, 2, 3, 3), (0, 2, 2)]:
            a = numbers(shape, d) + 3 * np.eye(shape[-1], dtype=d)
            sq.append((s.input(a),)), spd.append((s.input(a @ np.swapaxes(a, -1, -2)),))
    T = lambda x: np.swapaxes(x, -1, -2)
    s.case("inv", np.linalg.inv, sq), s.case("det", np.linalg.det, sq + spd), s.case("logdet", lambda a: np.linalg.slogdet(a)[1].astype(a.dtype), spd)
    s.case("cholesky", np.linalg.cholesky, spd), s.case("fn(a) = eigh(a)[0]", lambda a: np.linalg.eigh(a)[0], spd)
    s.case("fn(a) { (w, v) = eigh(a); v * w[..., none, :] @ v' }", lambda a: a, [r for r in spd])
    s.case("fn(a) = svd(a)[1]", lambda a: np.linalg.svd(a)[1], sq + [(i,) for i in range(9) if s.x[i].ndim >= 2 and s.x[i].size])
    s.case("fn(a) { (q, r) = qr(a); q @ r }", lambda a: a, sq), s.case("fn(a) { (q, r) = qr(a); abs(r) }", lambda a: np.abs(torch.linalg.qr(torch.tensor(a))[1].numpy()), sq)
    s.case("pinv", np.linalg.pinv, [(i,) for i in (1, 2, 3, 4)])
    b = [(r[0], s.input(numbers(s.x[r[0]].shape[:-1] + (2,), str(s.x[r[0]].dtype)))) for r in sq]
    s.case("solve", np.linalg.solve, b)
    s.case("fn(a, b) = solve_triangular(tril(a), b, lower = true)", lambda a, b: np.linalg.solve(np.tril(a), b), b)
    v = [(r[0], s.input(numbers((s.x[r[0]].shape[-1],), "float64"))) for r in sq if s.x[r[0]].ndim == 2 and s.x[r[0]].dtype == np.float64]
    s.case("solve", np.linalg.solve, v)
    tall = [(s.input(numbers((5, 3), "float64")), s.input(numbers((5,), "float64"))), (s.input(numbers((5, 3), "float64")), s.input(numbers((5, 2), "float64"))), (s.input(numbers((2, 4), "float64")), s.input(numbers((2,), "float64")))]
    for k in range(4): s.case("fn(a, b) = lstsq(a, b)[%d]" % k, lambda a, b: np.int64(np.linalg.lstsq(a, b, rcond=None)[2]) if k == 2 else np.linalg.lstsq(a, b, rcond=None)[k], tall)
    e = [(s.input(numbers((3, 4), "float64")), s.input(numbers((4, 3), "float64"))), (s.input(numbers((3, 3), "float64")), s.input(numbers((3, 3), "float64"))), (s.input(numbers((1, 4), "float32")), s.input(numbers((4, 1), "float32"))), (s.input(numbers((2, 2), "int64")), s.input(numbers((2, 2), "int64")))]
    for t in ("ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->", "ij,jk->j", "ij,jk->i", "ij,ji->", "ij,ji->ij", "ij,kl->ijkl", "ij,kl->lk", "ij,jk->ijk", "...j,jk->...k", "ba,ac"):
        s.case("fn(a, b) = einsum(\"%s\", a, b)" % t, lambda a, b: np.einsum(t, a, b), e)
    for t in ("ii", "ii->i", "ij->ji", "ij->", "ij->j", "...ij->...ji"): s.case("fn(a) = einsum(\"%s\", a)" % t, lambda a: np.einsum(t, a), [(e[1][0],), (e[3][0],)])
    for t in ("ij,jk,kl->il", "ij,ik,il->jkl", "ab,ab,ab->", "ij,jk,ki->", "xy,yz,zw->wx"): s.case("fn(a, b) = einsum(\"%s\", a, b, a)" % t, lambda a, b: np.einsum(t, a, b, a), [e[1], e[3]])
    F = torch.nn.functional
    img = [(s.input(numbers((2, 4, 7, 6), "float64")), s.input(numbers((6, 4, 3, 2), "float64"))), (s.input(numbers((1, 4, 5, 5), "float32")), s.input(numbers((2, 4, 3, 3), "float32")))]
    for st, pd, dl in [(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1), (2, 2, 2)]:
        s.case("fn(x, w) = conv2d(x, w, %d, %d, %d)" % (st, pd, dl), lambda x, w: F.conv2d(torch.tensor(x), torch.tensor(w), None, st, pd, dl).numpy(), img)
    s.case("fn(x, w) = conv2d(x, w[:, :2], groups = 2)", lambda x, w: F.conv2d(torch.tensor(x), torch.tensor(w[:, :2]), groups=2).numpy(), img)
    s.case("fn(x, w) = conv2d(x, w, (2, 1), (0, 1))", lambda x, w: F.conv2d(torch.tensor(x), torch.tensor(w), None, (2, 1), (0, 1)).numpy(), img)
    s.case("fn(x, w) = conv1d(x[:, :, 0], w[:, :, 0], 2, 1)", lambda x, w: F.conv1d(torch.tensor(x[:, :, 0].copy()), torch.tensor(w[:, :, 0].copy()), None, 2, 1).numpy(), img)
    one = [(i[0],) for i in img]
    for k, st, pd in [(2, 2, 0), (3, 2, 1), (2, 1, 0), (3, 3, 1)]:
        s.case("fn(x) = max_pool(x, %d, %d, %d)" % (k, st, pd), lambda x: F.max_pool2d(torch.tensor(x), k, st, pd).numpy(), one)
        s.case("fn(x) = avg_pool(x, %d, %d, %d)" % (k, st, pd), lambda x: F.avg_pool2d(torch.tensor(x), k, st, pd).numpy(), one)
    s.write(200)


def gradients():
    s = Suite("gradients", "gradients of sums of sines of results, against PyTorch's.")
    def put(shape, lo, hi): return (s.input(numbers(shape, "float64", lo, hi)),)
    any_ = [put(sh, -1.9, 1.9) for sh in ((4,), (2, 3), (2, 3, 2), (1,), (3, 3))]
    pos = [put(sh, 0.2, 1.8) for sh in ((4,), (2, 3), (3, 3))]
    unit = [put(sh, -0.8, 0.8) for sh in ((4,), (2, 3))]
    F = torch.nn.functional
    def G(text, f, rows, args="x"):
        def g(*xs):
            ts = [torch.tensor(x, requires_grad=True) for x in xs]
            torch.sin(f(*ts) * 1.3).sum().backward()
            return ts[0].grad.numpy() if len(ts) == 1 else torch.cat([t.grad.ravel() for t in ts]).numpy()
        if args == "x": s.case("fn(x) = grad(fn(x) = sum(sin(%s * 1.3)))(x)" % text, g, rows)
        else: s.case("fn(a, b) = flatten(grad(fn(a, b) = sum(sin(%s * 1.3)), wrt = (0, 1))(a, b))" % text, g, rows)
    for n, f in [("exp(x)", torch.exp), ("expm1(x)", torch.expm1), ("sin(x)", torch.sin), ("cos(x)", torch.cos), ("tanh(x)", torch.tanh), ("sinh(x)", torch.sinh), ("cosh(x)", torch.cosh), ("atan(x)", torch.atan),
                 ("asinh(x)", torch.asinh), ("erf(x)", torch.erf), ("erfc(x)", torch.erfc), ("sigmoid(x)", torch.sigmoid), ("relu(x)", torch.relu), ("softplus(x)", F.softplus), ("silu(x)", F.silu),
                 ("elu(x)", F.elu), ("abs(x)", torch.abs), ("square(x)", torch.square), ("(x ^ 3)", lambda x: x ** 3), ("clamp(x, -0.5, 0.7)", lambda x: torch.clamp(x, -0.5, 0.7)), ("leaky_relu(x)", F.leaky_relu),
                 ("sum(x)", torch.sum), ("mean(x)", torch.mean), ("prod(x)", torch.prod), ("max(x)", torch.amax), ("min(x)", torch.amin), ("var(x)", lambda x: x.var(unbiased=False)), ("norm(x)", torch.norm),
                 ("logsumexp(x)", lambda x: torch.logsumexp(x, tuple(range(x.ndim)))), ("softmax(x)", lambda x: torch.softmax(x, -1)), ("log_softmax(x)", lambda x: torch.log_softmax(x, -1)), ("cumsum(x, 0)", lambda x: x.cumsum(0)),
                 ("cumprod(x, 0)", lambda x: x.cumprod(0)), ("sort(x)", lambda x: x.sort(-1)[0]), ("flip(x, 0)", lambda x: x.flip(0)), ("roll(x, 1, 0)", lambda x: x.roll(1, 0)), ("x[::-1]", lambda x: x.flip(0)), ("concat((x, x * x))", lambda x: torch.cat((x, x * x))),
                 ("x[[0, 0]]", lambda x: x[[0, 0]]), ("where(x > 0, x * x, -x)", lambda x: torch.where(x > 0, x * x, -x)), ("x[x > 0]", lambda x: x[x > 0])]: G(n, f, any_)
    for n, f in [("log(x)", torch.log), ("log1p(x)", torch.log1p), ("log2(x)", torch.log2), ("sqrt(x)", torch.sqrt), ("reciprocal(x)", torch.reciprocal), ("lgamma(x)", torch.lgamma),
                 ("x ^ 1.7", lambda x: x ** 1.7), ("tan(x * 0.7)", lambda x: torch.tan(x * 0.7)), ("acosh(x + 1)", lambda x: torch.acosh(x + 1))]: G("(%s)" % n, f, pos)
    for n, f in [("asin(x)", torch.asin), ("acos(x)", torch.acos), ("atanh(x)", torch.atanh)]: G(n, f, unit)
    sq = [(s.input(numbers((3, 3), "float64") + 3 * np.eye(3)),), (s.input(numbers((2, 2, 2), "float64") + 3 * np.eye(2)),)]
    sp = lambda x: x @ x.mT
    for n, f in [("inv(x)", torch.inverse), ("det(x)", torch.det), ("logdet(x @ x')", lambda x: torch.logdet(sp(x))), ("cholesky(x @ x')", lambda x: torch.linalg.cholesky(sp(x))), ("eigh(x @ x')[0]", lambda x: torch.linalg.eigvalsh(sp(x))),
                 ("svd(x)[1]", torch.linalg.svdvals), ("(qr(x)[1] ^ 2)", lambda x: torch.linalg.qr(x)[1] ** 2), ("(qr(x)[0] ^ 2)", lambda x: torch.linalg.qr(x)[0] ** 2), ("(eigh(x @ x')[1] ^ 2)", lambda x: torch.linalg.eigh(sp(x))[1] ** 2),
                 ("pinv(x)", torch.linalg.pinv), ("einsum(\"...ij,...jk,...kj->...i\", x, x, x)", lambda x: torch.einsum("...ij,...jk,...kj->...i", x, x, x))]: G(n, f, sq)
    two = lambda a, b: (s.input(numbers(a, "float64", 0.3, 1.8)), s.input(numbers(b, "float64", 0.3, 1.8)))
    bc = [two((3,), (3,)), two((2, 3), (3,)), two((2, 1), (1, 3)), two((2, 2, 3), (2, 3))]
    for n, f in [("(a + b)", torch.add), ("(a - b)", torch.sub), ("(a * b)", torch.mul), ("(a / b)", torch.div), ("(a ^ b)", torch.pow), ("maximum(a, b)", torch.maximum), ("minimum(a, b)", torch.minimum), ("atan2(a, b)", torch.atan2), ("hypot(a, b)", torch.hypot)]: G(n, f, bc, "ab")
    G("(a @ b)", torch.matmul, [two((2, 3), (3, 2)), two((3,), (3,)), two((2, 2, 3), (3, 2)), two((2, 3), (2, 3, 2)), two((2, 3), (3,))], "ab")
    G("solve(a, b)", torch.linalg.solve, [(sq[0][0], s.input(numbers((3, 2), "float64"))), (sq[0][0], s.input(numbers((3,), "float64")))], "ab")
    cv = [(s.input(numbers((2, 4, 6, 5), "float64")), s.input(numbers((4, 4, 3, 2), "float64")))]
    G("conv2d(a, b, 2, 1)", lambda a, b: F.conv2d(a, b, None, 2, 1), cv, "ab"), G("conv2d(a, b, 1, 2, 2)", lambda a, b: F.conv2d(a, b, None, 1, 2, 2), cv, "ab")
    G("conv2d(a, b[:, :2], groups = 2)", lambda a, b: F.conv2d(a, b[:, :2], groups=2), cv, "ab"), G("max_pool(a, 2) * sum(b)", lambda a, b: F.max_pool2d(a, 2) * b.sum(), cv, "ab"), G("avg_pool(a, 3, 2, 1) * sum(b)", lambda a, b: F.avg_pool2d(a, 3, 2, 1) * b.sum(), cv, "ab")
    s.write(100)

def special():
    """Every elementwise function at special values and at random ones of both widths, and pairs of special values."""
    s = Suite("special", "special values, in f64 and f32, alone, in pairs and along axes.")
    one = {"float64": s.input(SPECIAL), "float32": s.input(SPECIAL32)}
    grid = {"float64": s.input(rng.uniform(-3, 3, (4, 5))), "float32": s.input(rng.uniform(-3, 3, (4, 5)).astype(np.float32))}
    hard = s.input(np.array([[np.nan, 1, 2], [np.inf, 3, -1], [-np.inf, 0, -0.0], [1, np.inf, -np.inf]]))
    hard32 = s.input(s.x[hard].astype(np.float32))
    every = [(i,) for d in (one, grid) for i in d.values()] + [(hard,), (hard32,)]
    small = [r for r in every if r[0] not in one.values()]
    T = torch.nn.functional
    def th(f): return lambda *x: f(*[torch.tensor(a) for a in x]).numpy()
    for n, f in [("exp", np.exp), ("exp2", np.exp2), ("expm1", np.expm1), ("log", np.log), ("log1p", np.log1p), ("log2", np.log2), ("log10", np.log10), ("sqrt", np.sqrt), ("cbrt", np.cbrt),
                 ("square", np.square), ("reciprocal", np.reciprocal), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh),
                 ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh), ("abs", np.abs), ("sign", np.sign), ("floor", np.floor), ("ceil", np.ceil), ("round", np.rint),
                 ("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite), ("fn(x) = -x", np.negative)]: s.case(n, f, every)
    for n, f in [("sin", np.sin), ("cos", np.cos), ("tan", np.tan)]: s.case(n, f, small)
    for n, f in [("erf", torch.erf), ("erfc", torch.erfc), ("sigmoid", torch.sigmoid), ("relu", T.relu), ("fn(x) = clamp(x, -1, 2)", lambda x: torch.clamp(x, -1, 2)),
                 ("fn(x) = gelu(x, false)", T.gelu), ("gelu", lambda x: T.gelu(x, approximate="tanh"))]: s.case(n, th(f), small if "gelu" in n or "sig" in n else every)
    finite = [(i,) for i in grid.values()]
    for n, f in [("silu", T.silu), ("elu", T.elu), ("softplus", T.softplus), ("fn(x) = elu(x, 0.5)", lambda x: T.elu(x, 0.5)), ("fn(x) = leaky_relu(x, 0.2)", lambda x: T.leaky_relu(x, 0.2)),
                 ("lgamma", torch.lgamma), ("digamma", torch.digamma)]: s.case(n, th(f), finite)
    positive = [(s.input(np.abs(s.x[i]) + np.asarray(0.1, s.x[i].dtype)),) for i in grid.values()]
    def poly(k, x):  # PyTorch's has an error of 4e-10 for k = 1; this is the sum, its tail by Euler and Maclaurin
        y, z = x.astype(np.float64), x.astype(np.float64) + 2000
        total = ((y[..., None] + np.arange(2000)) ** -(k + 1.0)).sum(-1) + z ** -k / k + z ** -(k + 1.0) / 2 + (k + 1) * z ** -(k + 2.0) / 12
        return ((-1) ** (k + 1) * float(np.prod(np.arange(1, k + 1))) * total).astype(x.dtype)
    for k in (1, 2, 3): s.case("fn(x) = polygamma(%d, x)" % k, lambda x: poly(k, x), positive)
    pairs = []
    for d in one:
        a, b = np.meshgrid(s.x[one[d]], s.x[one[d]])
        pairs += [(s.input(a.ravel()), s.input(b.ravel()))]
    mixed = [(grid["float64"], s.input(rng.uniform(-3, 3, 5))), (grid["float32"], s.input(rng.uniform(-3, 3, (4, 1)).astype(np.float32)))]
    for n, f in [("a + b", np.add), ("a - b", np.subtract), ("a * b", np.multiply), ("a / b", np.true_divide), ("a ^ b", np.power), ("maximum(a, b)", np.maximum), ("minimum(a, b)", np.minimum),
                 ("atan2(a, b)", np.arctan2), ("hypot(a, b)", np.hypot), ("a == b", np.equal), ("a != b", np.not_equal), ("a < b", np.less), ("a <= b", np.less_equal), ("a > b", np.greater),
                 ("a >= b", np.greater_equal), ("where(a > b, a, b)", lambda a, b: np.where(a > b, a, b))]: s.case("fn(a, b) = %s" % n, f, pairs + mixed)
    signs = [(s.input(np.array([7.0, -7.0, 7.5, -7.5, 0.0, -0.0, 5.25, 1e17])), s.input(np.array([2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 0.5, 7.0])))] + mixed
    s.case("fn(a, b) = a // b", np.floor_divide, signs), s.case("fn(a, b) = a % b", np.remainder, signs)
    bools = [(s.input(np.array([[True], [False]])), s.input(np.array([True, False, True])[None, :]))]
    s.case("fn(a, b) = a and b", np.logical_and, bools), s.case("fn(a, b) = a or b", np.logical_or, bools)
    near = [(s.input(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 0.5])), s.input(np.array([0.0, 2.0, np.inf, 0.0, 3.0, 0.25])))]
    s.case("xlogy", th(torch.xlogy), near)
    s.case("bce_with_logits", th(lambda x, t: T.binary_cross_entropy_with_logits(x, t, reduction="none")),
           [(grid["float64"], s.input(rng.uniform(0, 1, (4, 5)))), (s.input(np.array([-800.0, 800.0, 0.0, 30.0])), s.input(np.array([0.0, 1.0, 0.3, 0.0])))])
    rows = [(hard,), (hard32,)]
    for axis in (0, 1, -1, None):
        a = "none" if axis is None else axis
        for n, f in [("sum", np.sum), ("mean", np.mean), ("prod", np.prod), ("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin), ("median", np.median),
                     ("var", np.var), ("std", np.std), ("cumsum", np.cumsum), ("cumprod", np.cumprod), ("norm", lambda x, axis: np.sqrt(np.sum(x * x, axis=axis)))]:
            s.case("fn(x) = %s(x, axis = %s)" % (n, a), lambda x: f(x, axis=axis), rows)
        if axis is None: continue
        for n, f in [("sort", lambda x, axis: np.sort(x, axis=axis, kind="stable")), ("argsort", lambda x, axis: np.argsort(x, axis=axis, kind="stable")), ("cummax", np.maximum.accumulate)]:
            s.case("fn(x) = %s(x, axis = %s)" % (n, a), lambda x: f(x, axis=axis), rows)
        s.case("fn(x) = logsumexp(x, axis = %s)" % a, th(lambda x: torch.logsumexp(x, axis)), rows)
        s.case("fn(x) = softmax(x, axis = %s)" % a, th(lambda x: torch.softmax(x, axis)), finite), s.case("fn(x) = log_softmax(x, axis = %s)" % a, th(lambda x: torch.log_softmax(x, axis)), finite)
    s.write(4)


def making():
    """What makes arrays, and what counts and finds places."""
    s = Suite("making", "arrays made, counted, split and searched.")
    dummy = [(s.input(np.array(0.0)),)]
    def make(text, f): s.case("fn(x) = %s" % text, lambda x: f(), dummy)
    for sh in ("(3,)", "(2, 3)", "(0, 2)", "(1, 1, 2)"):
        shape = eval(sh)
        make("zeros(%s)" % sh, lambda: np.zeros(shape)), make("ones(%s)" % sh, lambda: np.ones(shape)), make("full(%s, 2.5)" % sh, lambda: np.full(shape, 2.5)), make("full(%s, true)" % sh, lambda: np.full(shape, True))
    for n, m, k in [(3, 3, 0), (2, 4, 1), (4, 2, -1), (3, 3, 5), (0, 2, 0)]: make("eye(%d, %d, %d)" % (n, m, k), lambda: np.eye(n, m, k))
    for a, b, n in [(0, 1, 5), (2, -3, 7), (1, 1, 3), (0, 1, 1), (0, 1, 0), (-1e300, 1e300, 4)]:
        for end in (True, False): make("linspace(%r, %r, %d, %s)" % (a, b, n, str(end).lower()), lambda: np.linspace(a, b, n, end))
    make("0..5", lambda: np.arange(5)), make("-2..3", lambda: np.arange(-2, 3))
    whole = [(s.input(np.array([0, 2, 1, 2, 5])),), (s.input(np.array([], dtype=np.int64)),), (s.input(np.array([3])),)]
    s.case("bincount", np.bincount, whole), s.case("fn(x) = bincount(x, minlength = 8)", lambda x: np.bincount(x, minlength=8), whole)
    s.case("bincount", np.bincount, [(whole[0][0], s.input(np.array([0.5, 1, 2, 4, -1])))])
    s.case("fn(i) = one_hot(i, 6)", lambda i: np.eye(6)[i], whole + [(s.input(np.array([[0, 1], [5, 2]])),)])
    def added(x, i, v):
        y = x.copy()
        np.add.at(y, i, v)
        return y
    s.case("fn(x, i, v) = scatter_add(x, i, v)", added, [(s.input(np.ones(4)), s.input(np.array([0, 3, 0])), s.input(np.array([1.0, 2, 4]))), (s.input(np.ones((3, 2))), s.input(np.array([2, -1])), s.input(np.array([[1.0, 2], [4, 8]])))])
    arrays = [(s.input(numbers(sh, d)),) for d in ("float64", "float32", "int64", "bool") for sh in ((5,), (2, 3), (3, 2, 2), (0,))]
    for k in range(3): s.case("fn(x) = nonzero(x > 0)[%d]" % k, lambda x: np.nonzero(x > 0)[k], [r for r in arrays if s.x[r[0]].ndim > k])
    s.case("size", lambda x: np.int64(x.size), arrays), s.case("rank", lambda x: np.int64(x.ndim), arrays), s.case("fn(x) = len(x)", lambda x: np.int64(len(x)), arrays)
    s.case("fn(x) = shape(x)[0]", lambda x: np.int64(x.shape[0]), arrays), s.case("fn(x) = flatten(x)", lambda x: x.ravel(), [r for r in arrays if "float" in str(s.x[r[0]].dtype)])
    some = [r for r in arrays if s.x[r[0]].ndim > 1 and s.x[r[0]].dtype != bool]
    for k in (1, 2):
        for part, f in ((0, lambda x: torch.topk(torch.tensor(x), k)[0].numpy()), (1, lambda x: np.argsort(-x, kind="stable", axis=-1)[..., :k])): s.case("fn(x) = top_k(x, %d)[%d]" % (k, part), f, some)
    s.case("fn(x) = sort(x, descending = true)", lambda x: -np.sort(-x), some), s.case("fn(x) = argsort(x, descending = true)", lambda x: np.argsort(-x, kind="stable"), some)
    six = [(s.input(numbers((6, 4), d)),) for d in ("float64", "int64")]
    for part in range(3): s.case("fn(x) = split(x, 3)[%d]" % part, lambda x: np.split(x, 3)[part], six), s.case("fn(x) = split(x, (1, 4))[%d]" % part, lambda x: np.split(x, (1, 4))[part], six)
    for part in range(2): s.case("fn(x) = split(x, 2, axis = 1)[%d]" % part, lambda x: np.split(x, 2, axis=1)[part], six)
    for axes in ("(1, 0)", "(0, -1)"): s.case("fn(x) = transpose(x, %s)" % axes, lambda x: np.transpose(x, eval(axes)), six)
    for sh in ("(4, 6)", "(-1, 3)", "(2, 3, 4)", "(24,)"): s.case("fn(x) = reshape(x, %s)" % sh, lambda x: x.reshape(eval(sh)), six)
    for k in (-2, -1, 0, 1, 3): s.case("fn(x) = tril(x, %d)" % k, lambda x: np.tril(x, k), six), s.case("fn(x) = triu(x, %d)" % k, lambda x: np.triu(x, k), six), s.case("fn(x) = diag(x, %d)" % k, lambda x: np.diag(x, k), six)
    for w in ("1", "(1, 2)", "((0, 1), (2, 0))"): s.case("fn(x) = pad(x, %s, 7)" % w, lambda x: np.pad(x, eval(w), constant_values=7), six)
    for sh, ax in [("1", "none"), ("(1, 2)", "(0, 1)"), ("-7", "1"), ("2", "(0, 1)")]: s.case("fn(x) = roll(x, %s, %s)" % (sh, ax), lambda x: np.roll(x, eval(sh), None if ax == "none" else eval(ax)), six)
    s.case("fn(x) = repeat(x, i64([1, 0, 2, 1, 0, 3]), 0)", lambda x: np.repeat(x, [1, 0, 2, 1, 0, 3], 0), six)
    s.case("fn(x) = take(x, i64([[0, 5], [-1, 2]]), axis = 0)", lambda x: np.take(x, [[0, 5], [-1, 2]], axis=0), six)
    for axis in (0, 1): s.case("fn(x) = stack((x, x + 1), axis = %d)" % axis, lambda x: np.stack((x, x + 1), axis), six), s.case("fn(x) = var(x, axis = %d, ddof = 1)" % axis, lambda x: np.var(x, axis=axis, ddof=1), six[:1])
    for side in ("left", "right"):
        s.case("fn(v) = searchsorted(i64([1, 2, 2, 2, 5]), v, side = \"%s\")" % side, lambda v: np.searchsorted([1, 2, 2, 2, 5], v, side), [(s.input(np.array([0, 1, 2, 3, 5, 6])),), (s.input(np.array([[2.0, np.nan], [np.inf, -np.inf]])),)])
    s.case("dot", np.dot, [(s.input(numbers((2, 3), "float64")), s.input(numbers((4, 3, 2), "float64"))), (s.input(numbers((2, 2, 3), "float64")), s.input(numbers((3,), "float64")))])
    s.write()


if __name__ == "__main__":
    elementwise()
    reduce()
    shapes()
    linear()
    gradients()
    special()
    making()
