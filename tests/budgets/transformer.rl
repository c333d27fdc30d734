# A transformer from the library.
import "nn" as nn
seed(2)
p = nn.transformer_init(32, 64)
ps = (p, nn.transformer_init(32, 64), nn.transformer_init(32, 64), nn.transformer_init(32, 64))
x = randn(4, 40, 32)
fn f(ps) { h = x; for (p in ps) { h = nn.transformer(p, h, heads = 4) }; mean(h * h) }
(y, g) = value_and_grad(f)(ps)
print(y, sum(flatten(g)), max(flatten(g)))
