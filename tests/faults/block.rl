# Files within a block under a gradient.
save(folder + "w.npy", [1, 2, 3])
seed(3)
save_state(folder + "s", {w: 2.0})
fn f(x) {
  checkpoint <
    y = sum(x * load(folder + "w.npy")) * rand()
    save_state(folder + "s", {w: load(folder + "s").w + 1})
  >
  y * load(folder + "s").w * rand()
}
# --- then
rand(3)
kept = 0
print(value_and_grad(f)([0.5, 1, 2]))
