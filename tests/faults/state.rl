# A state that replaces one, and is read back.
x = {w: rand(200, 60), n: none, t: (1, "a")}
save_state(folder + "a.state", 0)
seed(4)
# --- then
rand(3)
save_state(folder + "a.state", x)
y = load(folder + "a.state")
print(same(x, y), rand())
kept = 0
