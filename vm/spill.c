/* spill.c: see spill.h. The file is written and read by position, one group of values after the other, as
 * their arrays come in their trees. Room in it that was given back is used again for a group of the same size, as
 * states mostly are; at the end the file grows and shrinks. */
#include "spill.h"
#include "array.h"
#include "residual.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 4096 /* bytes of an array that is worth a file */, FREE_SEEN = 64, FAILURES_MOST = 8 };

typedef struct leaf {
    uint8_t dtype, rank;
    int64_t shape[RANK_MAX];
} leaf;
struct spilled {
    uint32_t refs, n;
    uint64_t at, bytes, sum;
    leaf of[];
};

typedef struct room {
    uint64_t at, bytes;
} room;
struct spill_file {
    int fd; /* -1: not made yet */
    uint64_t end;
    room *free;
    uint32_t n, cap;
    uint32_t failures; /* in a row, of writes; FAILURES_MOST: nothing is written any more */
    bool break_writes, break_bytes, noted;
    spill_count count;
};

/* --- the file --------------------------------------------------------------------------------- */

static spill_file *file_of(vm *m)
{
    if (!m->spill) {
        m->spill = memory_alloc(&m->mem, MEM_OTHER, sizeof *m->spill);
        if (m->spill) m->spill->fd = -1;
    }
    return m->spill;
}

void spill_close(vm *m)
{
    spill_file *f = m->spill;
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    memory_free(&m->mem, MEM_OTHER, f->free, f->cap * sizeof *f->free);
    memory_free(&m->mem, MEM_OTHER, f, sizeof *f);
    m->spill = NULL;
}

void spill_break(vm *m, bool writes, bool bytes)
{
    spill_file *f = file_of(m);
    if (!f) return;
    f->break_writes = writes;
    f->break_bytes = bytes;
    f->failures = 0;
}

spill_count spill_counts(const vm *m) { return m->spill ? m->spill->count : (spill_count){0}; }

static bool note(vm *m, const char *what, int why)
{
    spill_file *f = m->spill;
    f->count.failed++;
    if (!f->noted)
        vm_report(m, SEVERITY_NOTE, DIAG_CHECKPOINT, (span){0}, "%s (%s); what was to be on disk is computed again", what,
                  why ? strerror(why) : "a checksum differs");
    f->noted = true;
    return false;
}

/* Nothing more is written to a disk that did not give back what it was given: else what is computed again could be
   lost again, without end. */
static bool distrust(vm *m, const char *what, int why)
{
    m->spill->failures = FAILURES_MOST;
    return note(m, what, why);
}

static bool opened(vm *m)
{
    spill_file *f = file_of(m);
    if (!f || m->config.no_files || f->failures >= FAILURES_MOST) return false;
    if (f->fd >= 0) return true;
    const char *dir = getenv("TMPDIR");
    char path[4096];
    if (!dir || !*dir || strlen(dir) > sizeof path - 32) dir = "/tmp";
    strcpy(path, dir);
    strcat(path, "/replay-XXXXXX");
    f->fd = mkstemp(path);
    if (f->fd < 0) {
        f->failures = FAILURES_MOST;
        return note(m, "no file can be made to spill to", errno);
    }
    unlink(path);
    return true;
}

static uint64_t take_room(spill_file *f, uint64_t bytes)
{
    for (uint32_t k = f->n; k > 0 && k + FREE_SEEN > f->n; k--)
        if (f->free[k - 1].bytes == bytes) {
            uint64_t at = f->free[k - 1].at;
            f->free[k - 1] = f->free[--f->n];
            return at;
        }
    f->end += bytes;
    return f->end - bytes;
}

static void give_room(vm *m, uint64_t at, uint64_t bytes)
{
    spill_file *f = m->spill;
    if (at + bytes == f->end) {
        f->end = at;
        for (bool more = true; more;) {
            more = false;
            for (uint32_t k = f->n; k > 0 && k + FREE_SEEN > f->n; k--)
                if (f->free[k - 1].at + f->free[k - 1].bytes == f->end) {
                    f->end = f->free[k - 1].at;
                    f->free[k - 1] = f->free[--f->n];
                    more = true;
                    break;
                }
        }
        return;
    }
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 16;
        room *of = memory_resize(&m->mem, MEM_OTHER, f->free, f->cap * sizeof *of, cap * sizeof *of);
        if (!of) return; /* that room is lost */
        f->free = of;
        f->cap = cap;
    }
    f->free[f->n++] = (room){at, bytes};
}

/* Words are multiplied and folded, so that a changed bit or a changed place changes the sum. */
static uint64_t sum_of(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (; bytes >= 8; p += 8, bytes -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        sum = (sum ^ w) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; bytes; p++, bytes--) sum = (sum ^ *p) * 0x100000001b3u;
    return sum;
}

static bool write_at(spill_file *f, uint64_t at, const void *data, size_t bytes)
{
    const char *p = data;
    if (f->break_writes) {
        errno = ENOSPC;
        return false;
    }
    while (bytes) {
        ssize_t n = pwrite(f->fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool read_at(spill_file *f, uint64_t at, void *data, size_t bytes)
{
    char *p = data;
    size_t all = bytes;
    while (bytes) {
        ssize_t n = pread(f->fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) return false;
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    if (f->break_bytes && all) ((char *)data)[all / 2] ^= 1;
    return true;
}

/* --- trees ------------------------------------------------------------------------------------ */

static const value *parts(value v, uint32_t *n)
{
    *n = v.tag == V_TUPLE ? as_tuple(v)->n : v.tag == V_RECORD ? as_record(v)->n : 0;
    return v.tag == V_TUPLE ? as_tuple(v)->v : v.tag == V_RECORD ? as_record(v)->v : NULL;
}

static size_t leaf_bytes(const array *a) { return (size_t)a->size * dtype_size[a->dtype]; }
static bool goes(value v) { return v.tag == V_ARRAY && as_array(v)->dense && leaf_bytes(as_array(v)) >= LARGE; }
static bool marked(value v) { return v.tag == V_UNDEF && v.aux; }

enum { DEPTH_MOST = 64 }; /* what lies deeper stays in memory */

static void count_leaves(value v, int depth, uint32_t *leaves, uint64_t *bytes)
{
    uint32_t n;
    const value *of = parts(v, &n);
    if (goes(v)) ++*leaves, *bytes += leaf_bytes(as_array(v));
    for (uint32_t k = 0; k < n && depth < DEPTH_MOST; k++) count_leaves(of[k], depth + 1, leaves, bytes);
}

/* v with marks for what was written (owned), or V_UNDEF without memory for that. */
static bool write_tree(vm *m, spilled *s, value v, int depth, uint64_t *at, value *out)
{
    if (goes(v)) {
        const array *a = as_array(v);
        size_t bytes = leaf_bytes(a);
        leaf *l = &s->of[s->n++];
        *l = (leaf){.dtype = a->dtype, .rank = a->rank};
        memcpy(l->shape, array_shape(a), a->rank * sizeof *l->shape);
        s->sum = sum_of(s->sum, a->data, bytes);
        if (!write_at(m->spill, *at, a->data, bytes)) return note(m, "spilling to disk failed", errno);
        *at += bytes;
        *out = (value){.tag = V_UNDEF, .aux = s->n};
        return true;
    }
    uint32_t n, leaves = 0;
    uint64_t bytes = 0;
    const value *of = parts(v, &n);
    if (depth < DEPTH_MOST) count_leaves(v, depth, &leaves, &bytes);
    if (!leaves) {
        *out = value_retain(v);
        return true;
    }
    value *to = container_like(m, v, out);
    if (!to) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!write_tree(m, s, of[k], depth + 1, at, &to[k])) {
            value_release(m, *out);
            *out = value_undef();
            return false;
        }
    return true;
}

static bool read_tree(vm *m, const spilled *s, value v, uint64_t *at, uint64_t *sum, value *out)
{
    if (marked(v)) {
        const leaf *l = &s->of[v.aux - 1];
        array *a = array_new(m, (dtype)l->dtype, l->rank, l->shape);
        if (!a) return false;
        size_t bytes = leaf_bytes(a);
        *out = value_object(&a->h);
        if (!read_at(m->spill, *at, a->data, bytes)) {
            value_release(m, *out);
            *out = value_undef();
            return distrust(m, "reading what was spilled failed", errno);
        }
        *sum = sum_of(*sum, a->data, bytes);
        *at += bytes;
        return true;
    }
    uint32_t n, marks = 0;
    const value *of = parts(v, &n);
    for (uint32_t k = 0; k < n; k++) marks += marked(of[k]) || of[k].tag == V_TUPLE || of[k].tag == V_RECORD;
    if (!marks) {
        *out = value_retain(v);
        return true;
    }
    value *to = container_like(m, v, out);
    if (!to) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!read_tree(m, s, of[k], at, sum, &to[k])) {
            value_release(m, *out);
            *out = value_undef();
            return false;
        }
    return true;
}

/* --- groups ----------------------------------------------------------------------------------- */

static size_t spilled_bytes(uint32_t leaves) { return sizeof(spilled) + leaves * sizeof(leaf); }

spilled *spill_write(vm *m, value *v, uint32_t n)
{
    uint32_t leaves = 0;
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < n; k++) count_leaves(v[k], 0, &leaves, &bytes);
    if (!leaves || m->error || !opened(m)) return NULL;
    spill_file *f = m->spill;
    spilled *s = memory_alloc(&m->mem, MEM_RESIDUAL, spilled_bytes(leaves));
    value *marks = memory_alloc(&m->mem, MEM_RESIDUAL, n * sizeof *marks);
    uint64_t at = s && marks ? take_room(f, bytes) : 0;
    bool fine = s && marks;
    uint32_t done = 0;
    if (fine) {
        *s = (spilled){.refs = 1, .at = at, .bytes = bytes};
        for (uint64_t to = at; done < n && fine; done += fine) fine = write_tree(m, s, v[done], 0, &to, &marks[done]);
        f->failures = fine ? 0 : f->failures + 1;
    }
    for (uint32_t k = 0; k < done; k++) {
        value old = fine ? v[k] : marks[k];
        if (fine) {
            v[k] = marks[k];
            value_hold(m, v[k]);
            value_unhold(m, old);
        }
        value_release(m, old);
    }
    memory_free(&m->mem, MEM_RESIDUAL, marks, n * sizeof *marks);
    if (fine) {
        f->count.writes++;
        f->count.bytes += bytes;
        return s;
    }
    if (s) {
        if (s->refs) give_room(m, at, bytes);
        memory_free(&m->mem, MEM_RESIDUAL, s, spilled_bytes(leaves));
    }
    if (m->error) { /* no memory for the marks: then nothing is spilled */
        diag_free(m->error);
        m->error = NULL;
    }
    return NULL;
}

bool spill_read(vm *m, const spilled *s, const value *v, value *out, uint32_t n)
{
    uint64_t at = s->at, sum = 0;
    uint32_t done = 0;
    bool fine = !m->error;
    m->spill->count.reads++;
    for (; done < n && fine; done += fine) fine = read_tree(m, s, v[done], &at, &sum, &out[done]);
    if (fine && sum != s->sum) fine = distrust(m, "what was spilled is not what is on disk", 0);
    for (uint32_t k = 0; k < done && !fine; k++) {
        value_release(m, out[k]);
        out[k] = value_undef();
    }
    return fine;
}

spilled *spill_retain(spilled *s)
{
    s->refs++;
    return s;
}

void spill_release(vm *m, spilled *s)
{
    if (!s || --s->refs) return;
    if (m->spill) give_room(m, s->at, s->bytes);
    memory_free(&m->mem, MEM_RESIDUAL, s, spilled_bytes(s->n));
}
