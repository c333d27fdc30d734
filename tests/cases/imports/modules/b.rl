import "./a.rl" as a
