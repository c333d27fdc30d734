# error: user 3:1 told you
# status: 1
error("told you")
