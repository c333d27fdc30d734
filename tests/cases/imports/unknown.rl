# error: import 3:1 there is no module "nnn"
# help: did you mean "nn"?
import "nnn" as nn
