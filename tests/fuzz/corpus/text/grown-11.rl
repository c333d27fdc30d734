# A0 = 1
   0     # expect: 2
swap_axes