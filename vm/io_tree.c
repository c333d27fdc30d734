/* io_tree.c: nested records and tuples as lists of paths and numbers, and back, for the formats that hold
 * named arrays (npz, safetensors). A tuple's parts are named by their places, and fields that are
 * named 0, 1, 2 … come back as a tuple. And records that are read field by field, however many they have. */
#include "io.h"
#include "kern_util.h"
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 64

/* --- records of many fields ----------------------------------------------------------------------- */

static int symbol_order(const void *a, const void *b)
{
    symbol x = *(const symbol *)a, y = *(const symbol *)b;
    return x < y ? -1 : x > y;
}

bool record_append(vm *m, record *u, symbol name, value v)
{
    if (u->n == u->cap) {
        record *more = record_new(m, u->n, u->cap + u->cap / 2 + 4);
        if (!more) return false;
        memcpy(more->v, u->v, u->n * sizeof *u->v);
        memcpy(more->names, u->names, u->n * sizeof *u->names);
        record was = *u;
        u->v = more->v, u->names = more->names, u->cap = more->cap, u->indexed = more->indexed;
        more->v = was.v, more->names = was.names, more->cap = was.cap, more->n = more->indexed = 0;
        value_release(m, value_object(&more->h));
    }
    u->names[u->n] = name;
    u->v[u->n++] = v;
    return true;
}

bool record_twice(vm *m, const record *u, symbol *twice)
{
    size_t bytes = u->n * sizeof *u->names;
    *twice = 0;
    if (u->n < 2) return true;
    symbol *names = memory_alloc(&m->mem, MEM_OTHER, bytes);
    if (!names) return vm_out_of_memory(m);
    memcpy(names, u->names, bytes);
    qsort(names, u->n, sizeof *names, symbol_order);
    for (uint32_t i = 1; i < u->n; i++)
        if (names[i] == names[i - 1]) *twice = names[i];
    memory_free(&m->mem, MEM_OTHER, names, bytes);
    return true;
}

/* --- leaves ------------------------------------------------------------------------------------------ */

bool leaves_add(vm *m, io_leaves *l, const char *path, size_t n, value v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        io_leaf *more = memory_resize(&m->mem, MEM_OTHER, l->at, l->cap * sizeof *more, cap * sizeof *more);
        if (!more) return vm_out_of_memory(m);
        l->at = more, l->cap = cap;
    }
    char *own = memory_alloc(&m->mem, MEM_OTHER, n + 1);
    if (!own) return vm_out_of_memory(m);
    memcpy(own, path, n);
    own[n] = 0;
    l->at[l->n++] = (io_leaf){own, v};
    return true;
}

void leaves_close(vm *m, io_leaves *l, bool owned)
{
    for (size_t i = 0; i < l->n; i++) {
        if (owned) value_release(m, l->at[i].v);
        memory_free(&m->mem, MEM_OTHER, l->at[i].path, strlen(l->at[i].path) + 1);
    }
    if (l->at) memory_free(&m->mem, MEM_OTHER, l->at, l->cap * sizeof *l->at);
    *l = (io_leaves){0};
}

static bool add_parts(io_out *out, value v, text *path, int depth, io_leaves *l)
{
    vm *m = out->c->vm;
    const char *at = path->n ? text_str(path) : "the value";
    if (value_is_scalar(v) || v.tag == V_ARRAY) {
        if (path->n) return leaves_add(m, l, text_str(path), path->n, v);
        return io_refuse(out, "this format holds named arrays, and this is %s; give it a name: {x: …}", value_a_type(v));
    }
    if (v.tag != V_RECORD && v.tag != V_TUPLE) return io_refuse(out, "%s is %s, and this format holds numbers only", at, value_a_type(v));
    uint32_t n = v.tag == V_TUPLE ? as_tuple(v)->n : as_record(v)->n;
    if (n == 0) return io_refuse(out, "%s is a %s without parts, which this format cannot hold", at, value_type_name(v));
    if (depth == DEPTH) return io_refuse(out, "%s is nested more than %d deep", at, DEPTH);
    size_t before = path->n;
    for (uint32_t i = 0; i < n; i++) {
        if (before) text_putc(path, '.');
        if (v.tag == V_TUPLE) text_printf(path, "%u", i);
        else {
            const char *name = symbol_name(m->symbols, as_record(v)->names[i]);
            if (!*name || strchr(name, '.'))
                return io_refuse(out, "the field \"%s\" is %s, and this format keys parts by paths like a.b", name,
                                 *name ? "named with a dot" : "without a name");
            text_puts(path, name);
        }
        if (path->failed) return vm_out_of_memory(m);
        if (!add_parts(out, v.tag == V_TUPLE ? as_tuple(v)->v[i] : as_record(v)->v[i], path, depth + 1, l)) return false;
        path->n = before;
    }
    return true;
}

bool leaves_of(io_out *out, value v, io_leaves *l)
{
    text path;
    text_open(&path, &out->c->vm->mem);
    bool ok = add_parts(out, v, &path, 0, l);
    text_close(&path);
    return ok;
}

typedef enum put { PUT_DONE, PUT_FAILED, PUT_CONFLICT } put;

/* Sets the part of *at (a record of our own) at `path`; the value is retained. */
static put put_path(vm *m, value *at, const char *path, value v, bool nested, int depth)
{
    size_t n = nested ? strcspn(path, ".") : strlen(path);
    bool last = path[n] == 0;
    if (nested && (n == 0 || depth == DEPTH)) return PUT_CONFLICT;
    symbol name = symbol_of(m->symbols, path, n);
    if (!name) return vm_out_of_memory(m), PUT_FAILED;
    int64_t i = record_find(as_record(*at), name);
    if (last) {
        if (i >= 0) return PUT_CONFLICT;
        if (record_set(m, at, name, v)) return value_retain(v), PUT_DONE;
        return PUT_FAILED;
    }
    if (i < 0) {
        record *r = record_new(m, 0, 4);
        if (!r) return PUT_FAILED;
        if (!record_set(m, at, name, value_object(&r->h))) return value_release(m, value_object(&r->h)), PUT_FAILED;
        i = record_find(as_record(*at), name);
    }
    value *part = &as_record(*at)->v[i];
    return part->tag == V_RECORD ? put_path(m, part, path + n + 1, v, nested, depth + 1) : PUT_CONFLICT;
}

/* Records with the fields 0, 1, …, n - 1 become tuples. */
static bool make_tuples(vm *m, value *v)
{
    record *r = as_record(*v);
    bool places = r->n > 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->v[i].tag == V_RECORD && !make_tuples(m, &r->v[i])) return false;
        char s[16];
        snprintf(s, sizeof s, "%u", i);
        symbol name = symbol_of(m->symbols, s, strlen(s));
        if (!name) return vm_out_of_memory(m);
        places &= record_find(r, name) >= 0;
    }
    if (!places) return true;
    tuple *t = tuple_new(m, r->n, r->n);
    if (!t) return false;
    for (uint32_t i = 0; i < r->n; i++) {
        char s[16];
        snprintf(s, sizeof s, "%u", i);
        t->v[i] = value_retain(r->v[record_find(r, symbol_of(m->symbols, s, strlen(s)))]);
    }
    value_release(m, *v);
    *v = value_object(&t->h);
    return true;
}

bool leaves_value(io_in *in, io_leaves *l, value *out)
{
    vm *m = in->c->vm;
    for (int nested = 1; nested >= 0; nested--) {
        record *r = record_new(m, 0, (uint32_t)l->n + 1);
        if (!r) return false;
        value root = value_object(&r->h);
        put p = PUT_DONE;
        size_t i = 0;
        for (; p == PUT_DONE && i < l->n; i++) p = put_path(m, &root, l->at[i].path, l->at[i].v, nested, 0);
        if (p == PUT_DONE && (!nested || make_tuples(m, &root))) {
            *out = root;
            return true;
        }
        value_release(m, root);
        if (p != PUT_CONFLICT) return false;
        if (!nested) return io_fail(in, "two arrays have the name \"%s\"", l->at[i - 1].path);
    }
    return false;
}
