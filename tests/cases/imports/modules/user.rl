import "./shapes.rl" as s
double = s.area(1)
