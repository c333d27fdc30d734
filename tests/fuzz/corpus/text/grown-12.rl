p = {weigfor (i inhts: 0
print(p.fn 0
*
