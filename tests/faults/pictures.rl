# Images and pictures.
image = reshape(0..60, (3, 20)) * 4
# --- then
kept = 0
save(folder + "a.png", image)
save(folder + "a.pgm", image)
print(same(load(folder + "a.png"), image), same(load(folder + "a.pgm"), image))
plot([1, 2, 3])
save_plot(folder + "b.svg")
save_plot(folder + "b.txt")
