# e




