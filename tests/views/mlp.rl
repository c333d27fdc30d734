# Three layers, a block on the first two.
fn layer(w, x) = sin(w @ x)
fn loss(w1, w2, w3, x) {
  checkpoint < x = layer(w1, x); x = layer(w2, x) >
  y = layer(w3, x)
  sum(y * y)
}
seed(1)
w1 = randn(50, 40); w2 = randn(60, 50); w3 = randn(7, 60); x = randn(40)
(l, g) = value_and_grad(loss, wrt = (0, 1, 2))(w1, w2, w3, x)
print(l)
