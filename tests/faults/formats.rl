# Each format, written over an old file and as a new one, and read.
x = {a: [[1, 2], [3, 4]], b: [0.5]}
for (suffix in (".npz", ".safetensors", ".json", ".npy", ".csv")) { if (suffix != ".json") { save(folder + "old" + suffix, if (suffix == ".npz" or suffix == ".safetensors") { x } else { [7] }) } }
# --- then
kept = 0
rand(2)
save(folder + "old.npz", x)
save(folder + "old.safetensors", {a: [3]})
save(folder + "new.json", x)
save(folder + "old.npy", x.a)
save(folder + "old.csv", x.a)
print(load(folder + "old.npz").b, load(folder + "old.safetensors"), load(folder + "new.json"), load(folder + "old.npy"), load(folder + "old.csv"))
