/* tile_list.h: every elementwise kernel, by the dtypes it is defined for; see kern_tile.c.
 *
 *   TILE_F(name)        f64 and f32
 *   TILE_A(name)        and i64
 *   TILE_C(name, fault) and i64 with a check, which fails as `fault` says
 *   TILE_B(name)        f64, f32, i64 and bool
 *   TILE_L(name)        bool alone */
/* clang-format off */
#define TILE_LIST \
    TILE_C(add, "integer overflow") TILE_C(sub, "integer overflow") TILE_C(mul, "integer overflow") \
    TILE_C(neg, "integer overflow") TILE_C(abs, "integer overflow") TILE_C(square, "integer overflow") \
    TILE_C(floordiv, "division of an integer by zero") TILE_C(mod, "division of an integer by zero") \
    TILE_C(pow, "integer overflow") \
    TILE_F(div) TILE_F(reciprocal) TILE_F(sqrt) \
    TILE_B(eq) TILE_B(ne) TILE_B(lt) TILE_B(le) TILE_B(gt) TILE_B(ge) TILE_B(where) \
    TILE_L(and) TILE_L(or) TILE_L(not) \
    TILE_A(sign) TILE_A(floor) TILE_A(ceil) TILE_A(round) TILE_A(relu) TILE_A(minimum) TILE_A(maximum) \
    TILE_A(clamp) TILE_A(zmul) TILE_A(isnan) TILE_A(isfinite) TILE_A(isinf) \
    TILE_F(exp) TILE_F(exp2) TILE_F(expm1) TILE_F(log) TILE_F(log1p) TILE_F(log2) TILE_F(log10) TILE_F(cbrt) \
    TILE_F(sin) TILE_F(cos) TILE_F(tan) TILE_F(asin) TILE_F(acos) TILE_F(atan) TILE_F(atan2) \
    TILE_F(sinh) TILE_F(cosh) TILE_F(tanh) TILE_F(asinh) TILE_F(acosh) TILE_F(atanh) \
    TILE_F(erf) TILE_F(erfc) TILE_F(lgamma) TILE_F(digamma) TILE_F(polygamma) \
    TILE_F(hypot) TILE_F(xlogy) TILE_F(pow_slope) TILE_F(share) \
    TILE_F(sigmoid) TILE_F(softplus) TILE_F(silu) TILE_F(gelu) TILE_F(gelu_slope) TILE_F(elu) \
    TILE_F(leaky_relu) TILE_F(bce_with_logits)
