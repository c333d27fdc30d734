# logistic.rl: is a penguin male? Logistic regression by L-BFGS, with standard errors from the Hessian.

import "data" as data
import "optim" as optim

folder = if (exists("data/penguins.csv")) { "data/" } else { "examples/data/" }
table = data.complete(load(folder + "penguins.csv"))
fn marks(column, word) = stack(map(fn(s) = s == word, column))        # a bool for each row
table = data.rows(table, nonzero(not marks(table.sex, "NA"))[0])

names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
x = data.normalise(data.columns(table, names))
x = concat((ones(len(x), 1), x), axis = 1)
male = f64(marks(table.sex, "male"))

# Minus the log likelihood. Its Hessian at the minimum is the information the table gives about p.
fn loss(p) = sum(bce_with_logits(x @ p, male))

fit = optim.lbfgs(loss, zeros(len(names) + 1))
h = hessian(loss)(fit.p)
print(format("{} penguins, loss {:.4f} after {} steps", len(male), fit.value, fit.steps))
print(format("right: {:.1%}", mean((x @ fit.p > 0) == (male > 0.5))))

print(format("\n{:<18} {:>9} {:>9} {:>6}", "", "weight", "error", "z"))
error = sqrt(diag(inv(h)))
for ((i, name) in enumerate(("constant", "bill length", "bill depth", "flipper length", "body mass"))) {
  print(format("{:<18} {:9.4f} {:9.4f} {:6.2f}", name, fit.p[i], error[i], fit.p[i] / error[i]))
}

# expect: 333 penguins, loss 79.5017 after 23 steps
# expect: right: 91.0%
# expect:
# expect:                       weight     error      z
# expect: constant              0.1513    0.2059   0.73
# expect: bill length           0.5877    0.2619   2.24
# expect: bill depth            3.9945    0.4905   8.14
# expect: flipper length       -0.4545    0.4864  -0.93
# expect: body mass             4.4317    0.6621   6.69
