# npz, safetensors, json, png and pgm: round trips, what NumPy wrote, and files that are not what they say.
tmp = "/tmp/replay-formats"
p = {layers: ({w: [[1.5, 2.5]], b: 3}, {w: f32([1, 2]), b: 0..3}), n: true}
save(tmp + ".npz", p)
save(tmp + ".safetensors", p)
print(same(load(tmp + ".npz"), p), same(load(tmp + ".safetensors"), p))   # expect: true true
print(load("tests/cases/files/numpy_deflated.npz").x[0])  # expect: [[0, 3],
                                                          # expect:  [1, 4],
                                                          # expect:  [2, 5]]
q = {a: "x\"y\né", b: none, c: ("a", 1.0, [1, nan, -inf]), e: [true, false], m: [[1, 2], [3, 4]], k: i64([1, 2])}
save(tmp + ".json", q)
print(same(load(tmp + ".json"), q))      # expect: true
image = reshape(0..12, (3, 4)) * 20
save(tmp + ".png", image)
save(tmp + ".pgm", image)
print(same(load(tmp + ".png"), image), same(load(tmp + ".pgm"), image))  # expect: true true
fn why(result) = replace(result[1], tmp, "t")
for (v in ({a: "s"}, {a: ()}, [1, 2])) { print(why(try(save, tmp + ".npz", v))) }
# expect: save(): t.npz: a is a string, and this format holds numbers only
# expect: save(): t.npz: a is a tuple without parts, which this format cannot hold
# expect: save(): t.npz: this format holds named arrays, and this is an array; give it a name: {x: …}
print(why(try(save, tmp + ".png", [[2.5]])))  # expect: save(): t.png: an image of floats has values in [0, 1], and there is 2.5
write_text(tmp + ".json", "{\"a\": [1, 2,\n  tru]}")
print(why(try(load, tmp + ".json")))          # expect: load(): t.json: line 2, column 3: a value was expected
write_text(tmp + ".npz", "PK no archive at all, only text")
print(why(try(load, tmp + ".npz")))           # expect: load(): t.npz: it is no zip archive, or cut off: the directory at its end is missing
write_text(tmp + ".safetensors", "12345678{}")
print(why(try(load, tmp + ".safetensors")))   # expect: load(): t.safetensors: byte 0: a header of 4050765991979987505 bytes, and 2 follow
write_text(tmp + ".pgm", "P5 1000 1000 255\n12")
print(why(try(load, tmp + ".pgm")))           # expect: load(): t.pgm: 1000 by 1000 pixels do not fit into the 2 bytes that follow
