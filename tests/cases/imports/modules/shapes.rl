print("loaded once")
_hidden = 3
side = 2
fn area(w) = w * side * _hidden
fn twice(x) = area(area(x))
