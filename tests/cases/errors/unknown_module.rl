# error: name 3:1 unknown name `nn`
# help: import "nn" as nn
nn.dense(1, 2)
