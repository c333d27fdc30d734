# error: import
import "./modules/a.rl" as a
