# Pictures as text, SVG and PNG; mistakes.
path = "/tmp/replay-plot"
plot(0..9, ((0..9) ^ 2 / 64.0, 1 - (0..9) / 8.0), labels = ("up", "down"), title = "Two", xlabel = "x")
save_plot(path + ".txt")
lines = split(read_text(path + ".txt"), "\n")
print(trim(lines[0]), len(lines))            # expect: Two 26
print(trim(lines[-2]))                       # expect: ▀ up  ▀ down
save_plot(path + ".svg")
print(read_text(path + ".svg")[:4], has(read_text(path + ".svg"), ">down</text>"))  # expect: <svg true
save_plot(path + ".png", width = 200, height = 100)
print(shape(load(path + ".png")))            # expect: (200, 400, 3)
hist([1, 2, 2, 3], bins = 3)
save_plot(path + ".txt")
imshow([[0, 1], [1, 0]])
save_plot(path + ".png", 200, 200)
print(load(path + ".png")[150, 100])         # expect: [68, 1, 84]
plot([1, nan, 0, 10], log = "y")
print(try(plot, [1, 2], [1, 2, 3])[1])       # expect: plot(): x has 2 elements, and y has 3
print(try(fn(s) = plot([1, 2], style = s), "x")[1])  # expect: plot(): style must be made of - (a line), -- (dashed) and o or . (dots), not "x"
print(try(fn(s) = plot([1, 2], log = s), "z")[1])    # expect: plot(): log must be "x", "y" or "xy", not "z"
print(try(save_plot, "a.gif")[1])            # expect: save_plot(): a.gif: the suffix says the format, and is none of .svg, .png, .txt

# The letters of a PNG: each of these has a shape of its own, and what the font has not is a box.
fn picture(title) {
  plot([1, 2], title = title)
  save_plot("/tmp/replay-letters.png", 200, 120)
  load("/tmp/replay-letters.png")
}
pictures = ()
for (c in "eéèêëēęEÉiíïnñoöøcçčαβγδεθλμπρστφχψωΓΔΛΞΣΦΨΩ±×÷°²∞≤≥≠→√∂∇∫中") { pictures = append(pictures, picture(c)) }
alike = 0
for ((i, a) in enumerate(pictures)) { for (b in pictures[i + 1:]) { alike += same(a, b) } }
print(alike, same(picture("語"), pictures[-1]))     # expect: 0 true
