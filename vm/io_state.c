/* io_state.c: a run's state: any value but functions, exactly as it is, and the random state with it.
 *
 * The file is "\x89replay\n", the version (4 bytes), zero (4), the random key and counter (8 each), the value
 * part by part, then "end", the length of all before it (8) and their CRC-32 (4). Numbers are little-endian. A
 * part is a byte that says its kind and what kinds[] says follows; a tuple's and a record's parts come behind it,
 * in order. An object that several places share is written once, behind SHARED, and later named by its number, so
 * that what is shared stays shared and a value can never be larger in the file than in memory. Neither the
 * writer nor the reader recurses: a list a million deep is a file like any other. */
#include "io.h"
#include "kern_util.h"
#include <math.h>
#include <stdio.h>
#include <zlib.h>

enum { VERSION = 1 };
static const char magic[8] = "\x89replay\n", ending[4] = "end";

enum kind {
    K_NONE,
    K_BOOL /* 1 byte */,
    K_I64 /* 8 */,
    K_F32 /* 4 */,
    K_F64 /* 8 */,
    K_WEAK_FLOAT /* 8 */,
    K_WEAK_WHOLE /* 8 */,
    K_STRING /* length (4), bytes */,
    K_ARRAY /* dtype (1), rank (1), sizes (8 each), elements in row-major order */,
    K_TUPLE /* how many (4) */,
    K_RECORD /* how many (4); before each part its name's length (4) and bytes */,
    K_SHARED /* the object that follows gets the next number */,
    K_AGAIN /* a number (4) */
};

/* --- writing --------------------------------------------------------------------------------------- */

typedef struct put_at {
    value v;
    uint32_t i;
} put_at; /* a tuple or record, and how many of its parts are written */
typedef struct writer {
    io_out *out;
    vm *m;
    uint64_t n; /* bytes written */
    uLong crc;
    put_at *stack;
    uint32_t depth, cap;
    struct shared {
        const object *o;
        uint32_t number;
    } * shared;
    uint32_t nshared, slots; /* a hash of objects, slots a power of two */
} writer;

static void put(writer *w, const void *s, size_t n)
{
    io_put(w->out, s, n);
    if (n) w->crc = crc32_z(w->crc, s, n);
    w->n += n;
}
static void put_uint(writer *w, uint64_t x, int width)
{
    uint8_t s[8];
    for (int i = 0; i < width; i++) s[i] = (uint8_t)(x >> 8 * i);
    put(w, s, (size_t)width);
}
static void put_kind(writer *w, enum kind k) { put_uint(w, k, 1); }

static struct shared *shared_slot(const writer *w, const object *o)
{
    uint32_t s = (uint32_t)(((uintptr_t)o >> 4) * 2654435769u) & (w->slots - 1);
    while (w->shared[s].o && w->shared[s].o != o) s = (s + 1) & (w->slots - 1);
    return &w->shared[s];
}

/* Whether o was written before; if not, it is noted, and written with its number. */
static bool put_shared(writer *w, const object *o, bool *again)
{
    *again = false;
    if (o->refs == 1) return true; /* nobody else can have it */
    if (2 * (w->nshared + 1) > w->slots) {
        struct shared *old = w->shared;
        uint32_t n = w->slots, slots = n ? 2 * n : 64;
        struct shared *more = memory_alloc(&w->m->mem, MEM_OTHER, slots * sizeof *more);
        if (!more) return vm_out_of_memory(w->m);
        w->shared = more, w->slots = slots;
        for (uint32_t i = 0; i < n; i++)
            if (old[i].o) *shared_slot(w, old[i].o) = old[i];
        memory_free(&w->m->mem, MEM_OTHER, old, n * sizeof *old);
    }
    struct shared *s = shared_slot(w, o);
    if ((*again = s->o != NULL)) {
        put_kind(w, K_AGAIN);
        put_uint(w, s->number, 4);
        return true;
    }
    *s = (struct shared){o, w->nshared++};
    put_kind(w, K_SHARED);
    return true;
}

/* "layers[0].w": where the part at hand is. */
static bool refuse_function(writer *w, value v)
{
    text t;
    text_open(&t, &w->m->mem);
    for (uint32_t k = 0; k < w->depth && t.n < 200; k++) {
        put_at at = w->stack[k];
        if (at.v.tag == V_TUPLE) text_printf(&t, "[%u]", at.i - 1);
        else text_printf(&t, "%s%s", t.n ? "." : "", symbol_name(w->m->symbols, as_record(at.v)->names[at.i - 1]));
    }
    io_refuse(w->out, "%s is %s, which a saved state cannot hold", t.n ? text_str(&t) : "the value", value_a_type(v));
    text_close(&t);
    return false;
}

static void put_array(writer *w, value v)
{
    shaped s;
    shaped_of(&v, &s);
    put_kind(w, K_ARRAY);
    put_uint(w, s.dtype, 1);
    put_uint(w, (uint64_t)s.rank, 1);
    for (int i = 0; i < s.rank; i++) put_uint(w, (uint64_t)s.shape[i], 8);
    double piece[2048];
    for (int64_t i = 0; i < s.size && !w->out->failed; i += 2048) {
        int64_t count = s.size - i < 2048 ? s.size - i : 2048;
        shape_gather(&s, s.dtype, piece, i, count);
        put(w, piece, (size_t)count * dtype_size[s.dtype]);
    }
}

static bool put_begin(writer *w, value v, uint32_t n)
{
    if (w->depth == w->cap) {
        uint32_t cap = w->cap ? 2 * w->cap : 16;
        put_at *more = memory_resize(&w->m->mem, MEM_OTHER, w->stack, w->cap * sizeof *more, cap * sizeof *more);
        if (!more) return vm_out_of_memory(w->m);
        w->stack = more, w->cap = cap;
    }
    put_kind(w, v.tag == V_TUPLE ? K_TUPLE : K_RECORD);
    put_uint(w, n, 4);
    w->stack[w->depth++] = (put_at){v, 0};
    return true;
}

/* A part, without the parts that it has itself. */
static bool put_part(writer *w, value v)
{
    uint64_t bits = (uint64_t)v.u.i;
    bool again;
    float f;
    uint32_t single;
    if (v.tag == V_ARRAY || v.tag == V_STRING || v.tag == V_TUPLE || v.tag == V_RECORD) {
        if (!put_shared(w, v.u.o, &again)) return false;
        if (again) return true;
    }
    switch ((value_tag)v.tag) {
    case V_NONE: put_kind(w, K_NONE); return true;
    case V_BOOL:
        put_kind(w, K_BOOL);
        put_uint(w, bits, 1);
        return true;
    case V_I64:
        put_kind(w, K_I64);
        put_uint(w, bits, 8);
        return true;
    case V_F32:
        f = (float)v.u.f;
        memcpy(&single, &f, 4);
        put_kind(w, K_F32);
        put_uint(w, single, 4);
        return true;
    case V_F64:
        put_kind(w, v.weak == WEAK_FLOAT ? K_WEAK_FLOAT : v.weak == WEAK_WHOLE ? K_WEAK_WHOLE : K_F64);
        put_uint(w, bits, 8);
        return true;
    case V_STRING:
        put_kind(w, K_STRING);
        put_uint(w, as_string(v)->length, 4);
        put(w, as_string(v)->s, as_string(v)->length);
        return true;
    case V_ARRAY: put_array(w, v); return true;
    case V_TUPLE: return put_begin(w, v, as_tuple(v)->n);
    case V_RECORD: return put_begin(w, v, as_record(v)->n);
    default: return refuse_function(w, v);
    }
}

static bool put_value(writer *w, value v)
{
    if (!put_part(w, v)) return false;
    while (w->depth && !w->out->failed) {
        put_at *at = &w->stack[w->depth - 1];
        bool is_tuple = at->v.tag == V_TUPLE;
        if (at->i == (is_tuple ? as_tuple(at->v)->n : as_record(at->v)->n)) {
            w->depth--;
            continue;
        }
        uint32_t i = at->i++;
        if (!is_tuple) {
            const char *name = symbol_name(w->m->symbols, as_record(at->v)->names[i]);
            put_uint(w, strlen(name), 4);
            put(w, name, strlen(name));
        }
        if (!put_part(w, is_tuple ? as_tuple(at->v)->v[i] : as_record(at->v)->v[i])) return false;
    }
    return !w->out->failed;
}

bool io_state_write(io_out *out, value v)
{
    writer w = {.out = out, .m = out->c->vm, .crc = crc32_z(0, NULL, 0)};
    out->durable = true;
    put(&w, magic, sizeof magic);
    put_uint(&w, VERSION, 4);
    put_uint(&w, 0, 4);
    put_uint(&w, w.m->random.key, 8);
    put_uint(&w, w.m->random.counter, 8);
    bool ok = put_value(&w, v);
    uint64_t n = w.n;
    uLong crc = w.crc;
    put(&w, ending, sizeof ending);
    put_uint(&w, n, 8);
    put_uint(&w, crc, 4);
    if (w.stack) memory_free(&w.m->mem, MEM_OTHER, w.stack, w.cap * sizeof *w.stack);
    if (w.shared) memory_free(&w.m->mem, MEM_OTHER, w.shared, w.slots * sizeof *w.shared);
    return ok && !out->failed;
}

/* --- reading --------------------------------------------------------------------------------------- */

enum { ALONE = UINT32_MAX }; /* no number: not shared */
typedef struct take_at {
    value v;
    uint32_t n, number;
    symbol name; /* of the part being read */
} take_at;
typedef struct reader {
    io_in *in;
    vm *m;
    uLong crc;
    take_at *stack;
    uint32_t depth, cap;
    value *shared;
    uint32_t nshared, shared_cap; /* owned, by number; V_UNDEF while they are being read */
} reader;

static bool take(reader *r, void *to, size_t n, const char *what)
{
    if (!io_take(r->in, to, n, what)) return false;
    if (n) r->crc = crc32_z(r->crc, to, n); /* of nothing at NULL it would begin anew */
    return true;
}
static bool take_uint(reader *r, int width, uint64_t *x, const char *what)
{
    uint8_t s[8];
    if (!take(r, s, (size_t)width, what)) return false;
    *x = 0;
    for (int i = width; i-- > 0;) *x = *x << 8 | s[i];
    return true;
}

/* A text of UTF-8, of which the length comes first. */
static bool take_string(reader *r, bool is_name, string **out)
{
    uint64_t n;
    size_t from = r->in->at;
    if (!take_uint(r, 4, &n, is_name ? "the length of a name" : "the length of a string") ||
        !io_promises(r->in, n, 1, is_name ? "a name" : "a string"))
        return false;
    string *s = string_new(r->m, NULL, n);
    if (!s) return false;
    bool ok = take(r, s->s, n, is_name ? "a name" : "a string");
    if (ok && !utf8_valid(s->s, n)) ok = io_fail(r->in, "byte %zu: a %s that is not UTF-8 text", from, is_name ? "name" : "string");
    if (ok && is_name && memchr(s->s, 0, n)) ok = io_fail(r->in, "byte %zu: a name with a zero character in it", from);
    if (!ok) return value_release(r->m, value_object(&s->h)), false;
    string_seal(s);
    *out = s;
    return true;
}

static bool take_numbers(reader *r, value *out)
{
    size_t from = r->in->at;
    uint64_t d, rank, n = 1, sizes[RANK_MAX];
    int64_t shape[RANK_MAX];
    if (!take_uint(r, 1, &d, "an array's dtype") || !take_uint(r, 1, &rank, "an array's rank")) return false;
    if (d > DTYPE_F64) return io_fail(r->in, "byte %zu: an array of dtype %u, and there are 4", from, (unsigned)d);
    if (rank < 1 || rank > RANK_MAX)
        return io_fail(r->in, "byte %zu: an array of rank %u, and ranks are 1 to %d", from, (unsigned)rank, RANK_MAX);
    bool empty = false;
    for (uint64_t i = 0; i < rank; i++) {
        if (!take_uint(r, 8, &sizes[i], "an array's shape")) return false;
        shape[i] = (int64_t)sizes[i];
        empty |= sizes[i] == 0;
    }
    for (uint64_t i = 0; i < rank; i++)
        if (shape[i] < 0 || (!empty && __builtin_mul_overflow(n, sizes[i], &n)))
            return io_fail(r->in, "byte %zu: the array's shape is larger than 64 bits can count", from);
    if (!io_promises(r->in, empty ? 0 : n, dtype_size[d], "an array's shape")) return false;
    array *a = array_new(r->m, (dtype)d, (int)rank, shape);
    if (!a) return false;
    if (!take(r, a->data, (size_t)a->size * dtype_size[d], "an array")) {
        value_release(r->m, value_object(&a->h));
        return false;
    }
    for (int64_t i = 0; d == DTYPE_BOOL && i < a->size; i++) ((uint8_t *)a->data)[i] &= 1;
    *out = value_object(&a->h);
    return true;
}

/* The next number, for an object that is still to be read. */
static bool reserve_number(reader *r, uint32_t *number)
{
    if (r->nshared == r->shared_cap) {
        uint32_t cap = r->shared_cap ? 2 * r->shared_cap : 16;
        value *more = memory_resize(&r->m->mem, MEM_OTHER, r->shared, r->shared_cap * sizeof *more, cap * sizeof *more);
        if (!more) return vm_out_of_memory(r->m);
        r->shared = more, r->shared_cap = cap;
    }
    *number = r->nshared;
    r->shared[r->nshared++] = value_undef();
    return true;
}
static void note_shared(reader *r, uint32_t number, value v)
{
    if (number != ALONE) r->shared[number] = value_retain(v);
}

/* A tuple or record whose parts come next. Room is made as they come, whatever their number is said to be. */
static bool take_begin(reader *r, bool is_tuple, uint32_t number)
{
    uint64_t n;
    if (!take_uint(r, 4, &n, is_tuple ? "a tuple's length" : "a record's length") ||
        !io_promises(r->in, n, is_tuple ? 1 : 5, is_tuple ? "a tuple" : "a record"))
        return false;
    if (r->depth == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 16;
        take_at *more = memory_resize(&r->m->mem, MEM_OTHER, r->stack, r->cap * sizeof *more, cap * sizeof *more);
        if (!more) return vm_out_of_memory(r->m);
        r->stack = more, r->cap = cap;
    }
    uint32_t room = n < 4096 ? (uint32_t)n : 4096;
    tuple *t = is_tuple ? tuple_new(r->m, 0, room) : NULL;
    record *u = is_tuple ? NULL : record_new(r->m, 0, room);
    if (!t && !u) return false;
    r->stack[r->depth++] = (take_at){.v = value_object(t ? &t->h : &u->h), .n = (uint32_t)n, .number = number};
    return true;
}

static bool take_scalar(reader *r, enum kind k, value *out)
{
    size_t from = r->in->at;
    uint64_t bits;
    uint32_t single;
    float f;
    double x;
    if (!take_uint(r, k == K_BOOL ? 1 : k == K_F32 ? 4 : 8, &bits, "a number")) return false;
    switch (k) {
    case K_BOOL: *out = value_bool(bits & 1); return true;
    case K_I64: *out = value_i64((int64_t)bits); return true;
    case K_F32:
        single = (uint32_t)bits;
        memcpy(&f, &single, 4);
        *out = value_f32(f);
        return true;
    default: break;
    }
    memcpy(&x, &bits, 8);
    if (k == K_WEAK_WHOLE && !(isfinite(x) && x == floor(x))) return io_fail(r->in, "byte %zu: a whole number that is not whole", from);
    *out = k == K_F64 ? value_f64(x) : value_weak(x, k == K_WEAK_FLOAT ? WEAK_FLOAT : WEAK_WHOLE);
    return true;
}

/* The next part: in *out if it is whole, else on the stack and *out undefined. */
static bool take_part(reader *r, value *out)
{
    uint64_t k, again;
    uint32_t number = ALONE;
    string *s;
    size_t from = r->in->at;
    *out = value_undef();
    if (!take_uint(r, 1, &k, "a part's kind")) return false;
    if (k == K_SHARED) {
        if (!reserve_number(r, &number)) return false;
        from = r->in->at;
        if (!take_uint(r, 1, &k, "a part's kind")) return false;
        if (k < K_STRING || k > K_RECORD) return io_fail(r->in, "byte %zu: a part of kind %u cannot be shared", from, (unsigned)k);
    }
    switch ((enum kind)k) {
    case K_NONE: *out = value_none(); return true;
    case K_BOOL:
    case K_I64:
    case K_F32:
    case K_F64:
    case K_WEAK_FLOAT:
    case K_WEAK_WHOLE: return take_scalar(r, (enum kind)k, out);
    case K_STRING:
        if (!take_string(r, false, &s)) return false;
        *out = value_object(&s->h);
        break;
    case K_ARRAY:
        if (!take_numbers(r, out)) return false;
        break;
    case K_TUPLE:
    case K_RECORD: return take_begin(r, k == K_TUPLE, number);
    case K_AGAIN:
        if (!take_uint(r, 4, &again, "the number of a shared part")) return false;
        if (again >= r->nshared || r->shared[again].tag == V_UNDEF)
            return io_fail(r->in, "byte %zu: shared part %u again, which there is not so far", from, (unsigned)again);
        *out = value_retain(r->shared[again]);
        return true;
    default: return io_fail(r->in, "byte %zu: a part of kind %u, and there are %d", from, (unsigned)k, K_AGAIN + 1);
    }
    note_shared(r, number, *out);
    return true;
}

static bool names_differ(reader *r, const record *u)
{
    symbol twice;
    if (!record_twice(r->m, u, &twice)) return false;
    return !twice ||
           io_fail(r->in, "byte %zu: a record that ends here has two fields \"%s\"", r->in->at, symbol_name(r->m->symbols, twice));
}

static bool take_name(reader *r, take_at *at)
{
    string *s;
    if (!take_string(r, true, &s)) return false;
    at->name = symbol_of(r->m->symbols, s->s, s->length);
    value_release(r->m, value_object(&s->h));
    return at->name || vm_out_of_memory(r->m);
}

/* v goes to its place in the structure at hand (consumed). */
static bool give_part(reader *r, value v)
{
    take_at *at = &r->stack[r->depth - 1];
    bool ok = at->v.tag == V_TUPLE ? tuple_append(r->m, &at->v, v) : record_append(r->m, as_record(at->v), at->name, v);
    if (!ok) value_release(r->m, v);
    return ok;
}

static bool take_value(reader *r, value *out)
{
    value v;
    if (!take_part(r, &v)) return false;
    for (;;) {
        if (v.tag != V_UNDEF) {
            if (!r->depth) return *out = v, true;
            if (!give_part(r, v)) return false;
        }
        take_at *at = &r->stack[r->depth - 1];
        bool is_tuple = at->v.tag == V_TUPLE;
        if ((is_tuple ? as_tuple(at->v)->n : as_record(at->v)->n) == at->n) {
            if (!is_tuple && !names_differ(r, as_record(at->v))) return false;
            note_shared(r, at->number, at->v);
            v = at->v;
            r->depth--;
        } else if ((!is_tuple && !take_name(r, at)) || !take_part(r, &v)) return false;
    }
}

static bool take_head(reader *r, random_state *random)
{
    char start[sizeof magic];
    uint64_t version, reserved;
    if (!take(r, start, sizeof start, "the first bytes")) return false;
    if (memcmp(start, magic, sizeof magic) != 0) return io_fail(r->in, "it does not start as a saved state does");
    if (!take_uint(r, 4, &version, "the version")) return false;
    if (version != VERSION) return io_fail(r->in, "it has version %u of the format, and %d can be read", (unsigned)version, VERSION);
    return take_uint(r, 4, &reserved, "the head") && take_uint(r, 8, &random->key, "the random state") &&
           take_uint(r, 8, &random->counter, "the random state");
}

static bool take_end(reader *r)
{
    size_t from = r->in->at;
    uLong crc = r->crc;
    char end[sizeof ending];
    uint64_t length, sum;
    if (!take(r, end, sizeof end, "the end mark") || !take_uint(r, 8, &length, "the length") || !take_uint(r, 4, &sum, "the checksum"))
        return false;
    if (memcmp(end, ending, sizeof ending) != 0) return io_fail(r->in, "byte %zu: the end mark was expected", from);
    if (length != from)
        return io_fail(r->in, "byte %zu: the length is said to be %llu bytes, and is %zu", from + sizeof ending, (unsigned long long)length,
                       from);
    if (sum != crc)
        return io_fail(r->in, "byte %zu: the checksum is not that of the %zu bytes before: the file is damaged", from + sizeof ending + 8,
                       from);
    if (r->in->size != SIZE_MAX && r->in->at != r->in->size)
        return io_fail(r->in, "byte %zu: the state ends here, and %zu bytes follow", r->in->at, r->in->size - r->in->at);
    return true;
}

bool io_state_begins(const char *s, size_t n) { return n >= sizeof magic && memcmp(s, magic, sizeof magic) == 0; }

bool io_state_read(io_in *in, value *out)
{
    reader r = {.in = in, .m = in->c->vm, .crc = crc32_z(0, NULL, 0)};
    random_state random;
    value v = value_undef();
    bool ok = take_head(&r, &random) && take_value(&r, &v) && take_end(&r);
    while (r.depth) value_release(r.m, r.stack[--r.depth].v);
    while (r.nshared) value_release(r.m, r.shared[--r.nshared]);
    if (r.stack) memory_free(&r.m->mem, MEM_OTHER, r.stack, r.cap * sizeof *r.stack);
    if (r.shared) memory_free(&r.m->mem, MEM_OTHER, r.shared, r.shared_cap * sizeof *r.shared);
    if (!ok) {
        value_release(r.m, v);
        return false;
    }
    r.m->random = random;
    *out = v;
    return true;
}
