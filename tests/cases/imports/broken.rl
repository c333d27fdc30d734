# error: syntax
import "./modules/broken.rl" as b
