/* kern.h: declares kern_<name> for every row of prim.def that has a kernel of its own. */
#ifndef REPLAY_KERN_H
#define REPLAY_KERN_H
#include "prim.h"
#define ELEM(name, signature, dtype, partials, doc, examples)
#define ELEMC(name, signature, dtype, doc, examples)
#define ELEMH(name, signature, kind, attrs, dtype, partials, doc)
#define PRIM(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) prim_kernel kern_##name;
#define HIDE(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) prim_kernel kern_##name;
#include "prim.def"
#undef ELEM
#undef ELEMC
#undef ELEMH
#undef PRIM
#undef HIDE
#endif
