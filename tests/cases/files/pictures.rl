# What is in pictures: ticks of axes with logarithms, columns of a matrix, bars, images, in each format.
path = "/tmp/replay-pictures"
fn drawn(suffix, w = 400, h = 300) {
  save_plot(path + suffix, w, h)
  read_text(path + suffix)
}
fn all_in(s, words) {
  n = 0
  for (w in words) { n += has(s, w) }
  n == len(words)
}

plot(10 ^ (0..9), 10.0 ^ (0..9), log = "xy", style = "-o", title = "<powers> & \"more\"")
s = drawn(".svg")
print(all_in(s, (">1</text>", ">100</text>", ">10000</text>", ">1e6</text>", ">1e8</text>", "<circle")))   # expect: true
print(has(s, "&lt;powers> &amp; "))                             # expect: true
print(len(split(s, "<circle")) - 1)                               # expect: 9
s = drawn(".txt")
print(all_in(s, ("<powers>", "  1e8 ┤", "10000 ┤", "1e6")))       # expect: true

# Numbers of very different sizes on an axis without: no tick is cut off.
plot([1.5e-9, 2e12, -3e11])
print(all_in(drawn(".svg"), (">0.0</text>", "e12</text>")))       # expect: true

# Columns of a matrix are curves; dashes and dots.
y = stack(((0..5) * 1.0, 4.0 - (0..5)), axis = 1)
plot(0..5, y, labels = ("a", "b"), style = ("--", "o"))
s = drawn(".svg")
print(len(split(s, "<circle")) - 1, len(split(s, "stroke-dasharray")) - 1)     # expect: 6 2
plot(0..5, (y[:, 0], y[:, 1]), labels = ("a", "b"), style = ("--", "o"))
print(drawn(".svg") == s)                                         # expect: true
plot([nan, 1, nan, inf, 2, 3], style = "o")                       # what is not finite is a gap
print(len(split(drawn(".svg"), "<circle")) - 1)                   # expect: 3
print(try(plot, [1, 2], ones(2, 2, 2))[1])                        # expect: plot(): y must be a vector, a matrix of columns, or a tuple of vectors

# Bars: as high as they count, side by side.
hist([1, 2, 2, 3, 3, 3], bins = 3)
bars = split(drawn(".svg"), "fill-opacity=\"0.85\"")
print(len(bars) - 1)                                              # expect: 3
print(has(drawn(".txt"), "████"))                                 # expect: true

# Images: a row of text is two rows of the image, as light as both.
imshow([[0, 1], [2, 3]], title = "m")
print(split(drawn(".txt"), "\n")[:2])                             # expect: ("m", "░▓")
print(all_in(drawn(".svg"), ("#440154", "#31678d", "#3ab776", "#fde725")))    # expect: true
imshow(zeros(300, 200))
imshow(zeros(300, 200))
lines = split(trim(drawn(".txt") + "|"), "\n")
print(len(lines) > 10, len(lines) < 60)                           # expect: true true
imshow(stack(([[1.0, 0.0]], [[0.0, 0.0]], [[0.0, 1.0]]), axis = 2))            # red, blue
s = drawn(".svg")
print(all_in(s, ("#ff0000", "#0000ff")))                          # expect: true
imshow(reshape([255, 0, 0, 255, 0, 0, 255, 0], 1, 2, 4))          # the fourth channel is not looked at
print(has(drawn(".svg"), "#ff0000"))                              # expect: true
imshow(reshape([0.0, 1.0], 1, 2, 1))
print(all_in(drawn(".svg"), ("#440154", "#fde725")))              # expect: true
print(try(imshow, ones(2, 2, 5))[1])                              # expect: imshow(): x must be [height, width] or [height, width, 1, 3 or 4 channels]
print(try(save_plot, path + ".png", 50, 50)[1])                   # expect: save_plot(): a picture is 100 to 8,000 wide and high
