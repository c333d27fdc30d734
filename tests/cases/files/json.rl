# JSON: escapes, names given twice, numbers, what cannot be held, and where a text is wrong.
path = "/tmp/replay-json-case.json"
fn read(s) {
  write_text(path, s)
  load(path)
}
fn no(s) = try(read, s)[1][len("load(): " + path + ": "):]
a = read("{\"a\": \"\\u00e9\\ud83d\\ude00\\ud800x\\u0041\\b\\f\\n\\r\\t\\/\\\\\\\"\", \"b\": 1, \"b\": 2}")
print(a.a == "é😀" + "\u{fffd}" + "xA\x08\x0c\n\r\t/\\\"", a.b, len(keys(a)))        # expect: true 2 2
print(read("\"\\u07ff\\u0800\\uffff\"") == "\u{7ff}\u{800}\u{ffff}")          # expect: true
print(read(" [1, 2, [3, {\"b\": [true, null, 1e3, -0.5, 9007199254740993]}]] ")) # expect: (1, 2, (3, {b: (true, none, 1000, -0.5, 9007199254740993)}))
print(read("[[1, 2], [3, 4]]"), read("[]"), read("{}"), read("Infinity"), read("-Infinity"), read("NaN"))
                                                  # expect: [[1, 2],
                                                  # expect:  [3, 4]] [] {} inf -inf nan
print(no("\"\\x\""))                      # expect: line 1, column 3: one of " \ / b f n r t u behind a backslash was expected
print(no("\n\"\\u12g4\""))                # expect: line 2, column 6: a hexadecimal digit was expected
print(no("\"\\u12"))                      # expect: line 1, column 4: four hexadecimal digits was expected
print(no("{\"a\" 1}"))                    # expect: line 1, column 6: a colon was expected
print(no("[1, 2"))                        # expect: line 1, column 6: the text ends, and a comma or a closing bracket was expected
print(no("[1] 2"))                        # expect: line 1, column 5: the end of the text was expected
print(no("tru"))                          # expect: line 1, column 1: a value was expected
print(no("\"abc"))                        # expect: line 1, column 5: the text ends, and a closing quote was expected
print(no("1e"))                           # expect: line 1, column 1: a number was expected
print(no("\"a\nb\""))                     # expect: line 1, column 3: no control character in a string was expected
save(path, {a: (1, "é\"\\\n", none, true), b: [[1, 2], [3, 4]], c: 1 / 0, d: 0 / 0})
b = load(path)
print(same(b.a, (1, "é\"\\\n", none, true)), same(b.b, [[1, 2], [3, 4]]), b.c, b.d)     # expect: true true inf nan
print(try(save, path, fn(x) = x)[1])      # expect: save(): /tmp/replay-json-case.json: JSON cannot hold a function
