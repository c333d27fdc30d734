# stats.rl: describing data, densities, divergences and resampling. Rows are observations.

# --- describing -----------------------------------------------------------------------------------

# cov(x): covariances of the columns of x: [n, d] gives [d, d]; over n - ddof.
#   stats.cov([[1, 2], [3, 6]])  # [[2, 4], [4, 8]]
#   stats.cov([[1], [3]], ddof = 0)  # [[1]]
fn cov(x, ddof = 1) {
  c = x - mean(x, axis = 0)
  c' @ c / (len(x) - ddof)
}

# corr(x): correlations of the columns of x: [n, d] gives [d, d].
#   shape(stats.corr(randn(9, 3)))  # (3, 3)
#   stats.corr([[-1], [1]])  # [[1]]
fn corr(x) {
  c = x - mean(x, axis = 0)
  c = c / norm(c, axis = 0)
  c' @ c
}

# pearson(x, y): the correlation of two vectors.
#   abs(stats.pearson([1, 2, 3], [2, 4, 6]) - 1) < 1e-12  # true
#   stats.pearson([-1, 0, 1], [1, 0, 1])  # 0
fn pearson(x, y) {
  (a, b) = (x - mean(x), y - mean(y))
  dot(a, b) / (norm(a) * norm(b))
}

# quantile(x, q): the value that a share q of all elements of x lies below, between neighbours in proportion: the
# shape of q.
#   stats.quantile([4, 1, 3, 2], 0.5)  # 2.5
#   stats.quantile([1, 2, 3, 4, 5], 0.25)  # 2
fn quantile(x, q) {
  s = sort(flatten(x))
  at = q * (size(s) - 1)
  i = i64(floor(at))
  j = minimum(i + 1, size(s) - 1)
  s[i] + (at - i) * (s[j] - s[i])
}

# skewness(x): the mean cube of the standardised elements.
#   stats.skewness([-1, 0, 1])  # 0
#   stats.skewness([0, 0, 0, 1]) > 1  # true
fn skewness(x) = mean(((x - mean(x)) / std(x)) ^ 3)

# kurtosis(x): the mean fourth power of the standardised elements, less the 3 of a normal distribution.
#   stats.kurtosis([-1, 1])  # -2
#   stats.kurtosis([-1, -1, 1, 1])  # -2
fn kurtosis(x) = mean(((x - mean(x)) / std(x)) ^ 4) - 3

# standard_error(x): how far the mean of a vector is likely from the true one.
#   stats.standard_error([1, 2, 3, 6, 8]) > 1  # true
#   stats.standard_error([5, 5, 5])  # 0
fn standard_error(x) = std(x, ddof = 1) / sqrt(size(x))

# r2(y, t): the share of the variance of t that y explains.
#   stats.r2([1, 2, 3], [1, 2, 3])  # 1
#   stats.r2([2, 2, 2], [1, 2, 3])  # 0
fn r2(y, t) = 1 - sum((y - t) ^ 2) / sum((t - mean(t)) ^ 2)

# describe(x): {count, mean, std, min, q1, median, q3, max} of a vector.
#   stats.describe([1, 2, 3, 4, 5]).q1  # 2
#   keys(stats.describe([1, 2, 3]))  # ("count", "mean", "std", "min", "q1", "median", "q3", "max")
fn describe(x) = {
  count: size(x), mean: mean(x), std: std(x, ddof = 1),
  min: min(x), q1: quantile(x, 0.25), median: median(x), q3: quantile(x, 0.75), max: max(x),
}

# --- densities: logarithms, element by element ----------------------------------------------------

# normal(x): log density of the normal distribution.
#   stats.normal(0) == -log(2 * pi) / 2  # true
#   grad(fn(x) = stats.normal(x, 1, 2))(5)  # -1
fn normal(x, mean = 0, sd = 1) = -((x - mean) / sd) ^ 2 / 2 - log(sd) - log(2 * pi) / 2

# normal_cdf(x): the probability below x.
#   stats.normal_cdf(0)  # 0.5
#   stats.normal_cdf([-inf, inf])  # [0, 1]
fn normal_cdf(x, mean = 0, sd = 1) = erfc((mean - x) / (sd * sqrt(2))) / 2

# uniform(x): log density over [lo, hi], minus infinity outside.
#   stats.uniform(1, 0, 2) == -log(2)  # true
#   stats.uniform(3, 0, 2)  # -inf
fn uniform(x, lo = 0, hi = 1) = where((x >= lo) and (x <= hi), -log(hi - lo), -inf)

# exponential(x): log density with mean 1 / rate.
#   stats.exponential(2)  # -2
#   stats.exponential(-1)  # -inf
fn exponential(x, rate = 1) = where(x >= 0, log(rate) - rate * x, -inf)

# gamma(x, a): log density with shape a and the given rate.
#   stats.gamma(2, 1)  # -2
#   stats.gamma([1, 3], 1)  # [-1, -3]
fn gamma(x, a, rate = 1) = xlogy(a, rate) + xlogy(a - 1, x) - rate * x - lgamma(a)

# beta(x, a, b): log density over [0, 1].
#   stats.beta(0.3, 1, 1)  # 0
#   abs(stats.beta(0.5, 2, 2) - log(1.5)) < 1e-12  # true
fn beta(x, a, b) = xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - lgamma(a) - lgamma(b) + lgamma(a + b)

# student_t(x, df): log density of Student's distribution.
#   abs(stats.student_t(0, 1) + log(pi)) < 1e-12  # true
#   stats.student_t(1, 1) < stats.student_t(0, 1)  # true
fn student_t(x, df) {
  lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2 - (df + 1) / 2 * log1p(x * x / df)
}

# bernoulli(x, p): log probability of x, 0 or 1.
#   stats.bernoulli([0, 1], [0, 1])  # [0, 0]
#   stats.bernoulli(1, 0.5) == log(0.5)  # true
fn bernoulli(x, p) = xlogy(x, p) + xlogy(1 - x, 1 - p)

# poisson(x, rate): log probability of a count.
#   stats.poisson(0, 2)  # -2
#   stats.poisson(1, 1)  # -1
fn poisson(x, rate) = xlogy(x, rate) - rate - lgamma(x + 1)

# --- divergences ----------------------------------------------------------------------------------

# entropy(p): of probabilities along the last axis, in nats: [..., d] gives [...].
#   stats.entropy([0.25, 0.25, 0.25, 0.25]) == log(4)  # true
#   stats.entropy([0.5, 0.5]) == log(2)  # true
fn entropy(p) = -sum(xlogy(p, p), axis = -1)

# kl(p, q): divergence of probabilities p from q along the last axis, in nats: [..., d] gives [...].
#   stats.kl([0.5, 0.5], [0.5, 0.5])  # 0
#   stats.kl([1, 0], [0.5, 0.5]) == log(2)  # true
fn kl(p, q) = sum(xlogy(p, p) - xlogy(p, q), axis = -1)

# kl_normal(m1, s1, m2, s2): divergence of one normal distribution from another, element by element.
#   stats.kl_normal(0, 1)  # 0
#   stats.kl_normal(3, 1)  # 4.5
fn kl_normal(m1, s1, m2 = 0, s2 = 1) = log(s2 / s1) + (s1 ^ 2 + (m1 - m2) ^ 2) / (2 * s2 ^ 2) - 1 / 2

# --- resampling -----------------------------------------------------------------------------------

# bootstrap(f, x): f of n samples of x's rows, drawn with replacement: [n, ...]. Its spread is f's uncertainty.
#   shape(stats.bootstrap(mean, [1, 2, 3], n = 10))  # (10,)
#   stats.bootstrap(mean, [2, 2], n = 3)  # [2, 2, 2]
fn bootstrap(f, x, n = 1000) {
  ys = ()
  for (i in 0..n) { ys = append(ys, f(x[randint(0, len(x), len(x))])) }
  stack(ys)
}

# interval(ys): the middle `share` of a sample: [low, high], as of bootstrap.
#   stats.interval(0..101, share = 0.5)  # [25, 75]
#   stats.interval([1, 1, 1])  # [1, 1]
fn interval(ys, share = 0.95) = [quantile(ys, (1 - share) / 2), quantile(ys, (1 + share) / 2)]

# ecdf(x): (sorted elements, the share at or below each).
#   stats.ecdf([3, 1, 2, 4])  # ([1, 2, 3, 4], [0.25, 0.5, 0.75, 1])
#   stats.ecdf([5])[1]  # [1]
fn ecdf(x) = (sort(x), (1..size(x) + 1) / size(x))
