/* prim_ids.h: PRIM_<name> for every row of prim.def: its number in the table. */
#ifndef REPLAY_PRIM_IDS_H
#define REPLAY_PRIM_IDS_H
enum prim_id {
#define ELEM(name, signature, dtype, partials, doc, examples) PRIM_##name,
#define ELEMC(name, signature, dtype, doc, examples) PRIM_##name,
#define ELEMH(name, signature, kind, attrs, dtype, partials, doc) PRIM_##name,
#define PRIM(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) PRIM_##name,
#define HIDE(name, signature, kind, attrs, shape, dtype, vjp, jvp, doc, examples) PRIM_##name,
#include "prim.def"
#undef ELEM
#undef ELEMC
#undef ELEMH
#undef PRIM
#undef HIDE
    PRIM_COUNT
};
#endif
