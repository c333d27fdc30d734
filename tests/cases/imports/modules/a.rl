import "./b.rl" as b
