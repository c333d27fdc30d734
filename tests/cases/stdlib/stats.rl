# Statistics: known values, densities that integrate to one, divergences.
import "stats" as stats
seed(1)
fn close(a, b, tol = 1e-10) = max(abs(a - b)) < tol
x = f64([[1, 2], [3, 1], [5, 6]])
print(stats.cov(x))                                                    # expect: [[4, 4],
# expect:  [4, 7]]
print(close(stats.corr(x), [[1, 4 / sqrt(28)], [4 / sqrt(28), 1]]), close(stats.pearson(x[:, 0], x[:, 1]), 4 / sqrt(28)))  # expect: true true
v = f64([7, 1, 3, 5])
print(stats.quantile(v, 0), stats.quantile(v, 0.5), stats.quantile(v, 1), stats.quantile(v, 0.25))  # expect: 1 4 7 2.5
print(stats.skewness(v), format("{:.2f}", stats.kurtosis(v)), stats.r2(v, v), stats.r2(f64([4, 4, 4, 4]), v))  # expect: 0 -1.36 1 0
d = stats.describe(v)
print(d.count, d.mean, d.median, d.q1, d.q3)                           # expect: 4 4 4 2.5 5.5
print(close(stats.standard_error(v), std(v, ddof = 1) / 2))            # expect: true

# Densities add up to 1.
fn total(density, lo, hi) {
  n = 20000
  t = lo + (hi - lo) * ((0..n) + 0.5) / n
  sum(exp(density(t))) * (hi - lo) / n
}
print(close(total(fn(t) = stats.normal(t, 1, 2), -30, 30), 1))                         # expect: true
print(close(total(fn(t) = stats.uniform(t, 2, 4), 0, 10), 1))                          # expect: true
print(close(total(fn(t) = stats.exponential(t, 0.5), 0, 100), 1, 1e-5))                # expect: true
print(close(total(fn(t) = stats.gamma(t, 3, 2), 0, 40), 1), close(total(fn(t) = stats.beta(t, 2, 5), 0, 1), 1, 1e-8))  # expect: true true
print(close(total(fn(t) = stats.student_t(t, 5), -1000, 1000), 1, 1e-8))               # expect: true
print(close(exp(stats.bernoulli(f64([0, 1]), 0.3)), [0.7, 0.3]), close(sum(exp(stats.poisson(f64(0..60), 4))), 1))  # expect: true true
print(close(stats.normal_cdf(f64([-40, 0, 1.96])), [0, 0.5, 0.9750021048517795]))      # expect: true
print(close(grad(stats.normal_cdf)(0.7), exp(stats.normal(0.7))))                      # expect: true
print(close(grad(fn(s) = stats.normal(1.0, 0, s))(2.0), 1 / 8 - 1 / 2))                # expect: true

print(close(stats.entropy(f64([0.5, 0.5, 0])), log(2)), close(stats.kl(f64([0.5, 0.5]), f64([0.25, 0.75])), 0.5 * log(4 / 3)))  # expect: true true
print(stats.kl_normal(1, 2, 1, 2), close(stats.kl_normal(1, 1), 0.5))                  # expect: 0 true

y = randn(400) + 3
means = stats.bootstrap(mean, y, 200)
print(abs(std(means) - stats.standard_error(y)) < 0.01, abs(mean(means) - mean(y)) < 0.02)  # expect: true true
(lo, hi) = (stats.interval(means)[0], stats.interval(means)[1])
print(lo < mean(y) and mean(y) < hi)                                                   # expect: true
print(stats.ecdf(f64([3, 1])))                                                         # expect: ([1, 3], [0.5, 1])
