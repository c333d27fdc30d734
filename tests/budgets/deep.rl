# A deep network, written out: no loop and no block.
seed(1)
d = 48
x = randn(200, d)
w = 0.2 * randn(24, d, d)
fn f(w) {
  h0 = x
  a0 = tanh(h0 @ w[0])
  h1 = h0 + 0.5 * a0 * a0
  a1 = tanh(h1 @ w[1])
  h2 = h1 + 0.5 * a1 * a1
  a2 = tanh(h2 @ w[2])
  h3 = h2 + 0.5 * a2 * a2
  a3 = tanh(h3 @ w[3])
  h4 = h3 + 0.5 * a3 * a3
  a4 = tanh(h4 @ w[4])
  h5 = h4 + 0.5 * a4 * a4
  a5 = tanh(h5 @ w[5])
  h6 = h5 + 0.5 * a5 * a5
  a6 = tanh(h6 @ w[6])
  h7 = h6 + 0.5 * a6 * a6
  a7 = tanh(h7 @ w[7])
  h8 = h7 + 0.5 * a7 * a7
  a8 = tanh(h8 @ w[8])
  h9 = h8 + 0.5 * a8 * a8
  a9 = tanh(h9 @ w[9])
  h10 = h9 + 0.5 * a9 * a9
  a10 = tanh(h10 @ w[10])
  h11 = h10 + 0.5 * a10 * a10
  a11 = tanh(h11 @ w[11])
  h12 = h11 + 0.5 * a11 * a11
  a12 = tanh(h12 @ w[12])
  h13 = h12 + 0.5 * a12 * a12
  a13 = tanh(h13 @ w[13])
  h14 = h13 + 0.5 * a13 * a13
  a14 = tanh(h14 @ w[14])
  h15 = h14 + 0.5 * a14 * a14
  a15 = tanh(h15 @ w[15])
  h16 = h15 + 0.5 * a15 * a15
  a16 = tanh(h16 @ w[16])
  h17 = h16 + 0.5 * a16 * a16
  a17 = tanh(h17 @ w[17])
  h18 = h17 + 0.5 * a17 * a17
  a18 = tanh(h18 @ w[18])
  h19 = h18 + 0.5 * a18 * a18
  a19 = tanh(h19 @ w[19])
  h20 = h19 + 0.5 * a19 * a19
  a20 = tanh(h20 @ w[20])
  h21 = h20 + 0.5 * a20 * a20
  a21 = tanh(h21 @ w[21])
  h22 = h21 + 0.5 * a21 * a21
  a22 = tanh(h22 @ w[22])
  h23 = h22 + 0.5 * a22 * a22
  a23 = tanh(h23 @ w[23])
  h24 = h23 + 0.5 * a23 * a23
  mean(h24 * h24)
}
(y, g) = value_and_grad(f)(w)
print(y, sum(g), max(g), g[3, 5, 7])
