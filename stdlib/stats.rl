# stats.rl: describing data, densities, divergences and resampling. Rows are observations.

# --- describing -----------------------------------------------------------------------------------

# cov(x): covariances of the columns of x: [n, d] gives [d, d]; over n - ddof.
fn cov(x, ddof = 1) {
  c = x - mean(x, axis = 0)
  c' @ c / (len(x) - ddof)
}

# corr(x): correlations of the columns of x: [n, d] gives [d, d].
fn corr(x) {
  c = x - mean(x, axis = 0)
  c = c / norm(c, axis = 0)
  c' @ c
}

# pearson(x, y): the correlation of two vectors.
fn pearson(x, y) {
  (a, b) = (x - mean(x), y - mean(y))
  dot(a, b) / (norm(a) * norm(b))
}

# quantile(x, q): the value that a share q of x lies below, between neighbours in proportion.
fn quantile(x, q) {
  s = sort(flatten(x))
  at = q * (size(s) - 1)
  i = i64(floor(at))
  j = minimum(i + 1, size(s) - 1)
  s[i] + (at - i) * (s[j] - s[i])
}

# skewness(x): the mean cube of the standardised elements.
fn skewness(x) = mean(((x - mean(x)) / std(x)) ^ 3)

# kurtosis(x): the mean fourth power of the standardised elements, less the 3 of a normal distribution.
fn kurtosis(x) = mean(((x - mean(x)) / std(x)) ^ 4) - 3

# standard_error(x): how far the mean of a vector is likely from the true one.
fn standard_error(x) = std(x, ddof = 1) / sqrt(size(x))

# r2(y, t): the share of the variance of t that y explains.
fn r2(y, t) = 1 - sum((y - t) ^ 2) / sum((t - mean(t)) ^ 2)

# describe(x): {count, mean, std, min, q1, median, q3, max} of a vector.
fn describe(x) = {
  count: size(x), mean: mean(x), std: std(x, ddof = 1),
  min: min(x), q1: quantile(x, 0.25), median: median(x), q3: quantile(x, 0.75), max: max(x),
}

# --- densities: logarithms, element by element ----------------------------------------------------

# normal(x): log density of the normal distribution.
fn normal(x, mean = 0, sd = 1) = -((x - mean) / sd) ^ 2 / 2 - log(sd) - log(2 * pi) / 2

# normal_cdf(x): the probability below x.
fn normal_cdf(x, mean = 0, sd = 1) = erfc((mean - x) / (sd * sqrt(2))) / 2

# uniform(x): log density over [lo, hi], minus infinity outside.
fn uniform(x, lo = 0, hi = 1) = where((x >= lo) and (x <= hi), -log(hi - lo), -inf)

# exponential(x): log density with mean 1 / rate.
fn exponential(x, rate = 1) = where(x >= 0, log(rate) - rate * x, -inf)

# gamma(x, a): log density with shape a and the given rate.
fn gamma(x, a, rate = 1) = xlogy(a, rate) + xlogy(a - 1, x) - rate * x - lgamma(a)

# beta(x, a, b): log density over [0, 1].
fn beta(x, a, b) = xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - lgamma(a) - lgamma(b) + lgamma(a + b)

# student_t(x, df): log density of Student's distribution.
fn student_t(x, df) {
  lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2 - (df + 1) / 2 * log1p(x * x / df)
}

# bernoulli(x, p): log probability of x, 0 or 1.
fn bernoulli(x, p) = xlogy(x, p) + xlogy(1 - x, 1 - p)

# poisson(x, rate): log probability of a count.
fn poisson(x, rate) = xlogy(x, rate) - rate - lgamma(x + 1)

# --- divergences ----------------------------------------------------------------------------------

# entropy(p): of probabilities along the last axis, in nats.
fn entropy(p) = -sum(xlogy(p, p), axis = -1)

# kl(p, q): divergence of probabilities p from q along the last axis, in nats.
fn kl(p, q) = sum(xlogy(p, p) - xlogy(p, q), axis = -1)

# kl_normal(m1, s1, m2, s2): divergence of one normal distribution from another, element by element.
fn kl_normal(m1, s1, m2 = 0, s2 = 1) = log(s2 / s1) + (s1 ^ 2 + (m1 - m2) ^ 2) / (2 * s2 ^ 2) - 1 / 2

# --- resampling -----------------------------------------------------------------------------------

# bootstrap(f, x): f of n samples of x's rows, drawn with replacement: its spread is f's uncertainty.
fn bootstrap(f, x, n = 1000) {
  ys = ()
  for (i in 0..n) { ys = append(ys, f(x[randint(0, len(x), len(x))])) }
  stack(ys)
}

# interval(ys): the middle `share` of a sample: [low, high], as of bootstrap.
fn interval(ys, share = 0.95) = [quantile(ys, (1 - share) / 2), quantile(ys, (1 + share) / 2)]

# ecdf(x): (sorted elements, the share at or below each).
fn ecdf(x) = (sort(x), (1..size(x) + 1) / size(x))
