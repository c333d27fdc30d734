# e




fisinh