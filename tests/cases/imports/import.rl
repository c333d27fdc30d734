import "./modules/shapes.rl" as shapes    # expect: loaded once
import "./modules/user.rl" as user
print(shapes.area(2), shapes.twice(1), user.double)  # expect: 12 36 6
print(keys(shapes))                       # expect: ("side", "area", "twice")
print(type(user.s))                       # expect: record
fn area(x) = "mine"
print(area(1), shapes.twice(1))           # expect: mine 36
