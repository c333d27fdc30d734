orstop_gradorstop_gra# `d



and