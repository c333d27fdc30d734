# error: import 2:1 cannot import
import "./modules/no.rl" as no
