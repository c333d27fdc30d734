# saved(f, args…) tells what the forward pass of f would keep.
fn makes(x) { checkpoint < a = (0..1000000) * 1.0; s = sum(a * x) >; s * s }
print(type(saved(makes, 2.0)))            # expect: record
