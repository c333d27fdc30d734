/* io.h: files in the formats that load and save know.
 *
 * A format is one file io_<name>.c and one row of the table in io.c. A reader takes bytes in order and may
 * trust nothing in them: sizes are checked against what the file has before memory is asked for, and
 * each fault is an error that names the file and the place in it. A writer writes to a new file beside the
 * old one, which takes its name only when everything is written. */
#ifndef REPLAY_IO_H
#define REPLAY_IO_H
#include "vm.h"

typedef struct unpacking unpacking;
/* A file being read. */
typedef struct io_in {
    prim_call *c;
    const char *path;
    int fd;
    unpacking *gz;     /* not NULL: the file is packed (io_gz.c) */
    const char *bytes; /* not NULL: what is read lies here (a file inside a file), size bytes */
    size_t at;         /* bytes taken so far */
    size_t size;       /* of the whole file; SIZE_MAX when not known (packed, a pipe) */
} io_in;
/* Takes exactly n bytes; fails with "the file ends …" and what was being read when there are fewer. */
bool io_take(io_in *in, void *to, size_t n, const char *what);
/* All that is left, in one block of MEM_OTHER (freed by the caller with *n + 1 bytes), NUL behind. */
char *io_rest(io_in *in, size_t *n);
/* Whether n elements of `width` bytes may still follow; fails saying what was promised and what is there. */
bool io_promises(io_in *in, uint64_t n, size_t width, const char *what);
/* "load(): data.npy: …" Always false. */
bool io_fail(io_in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How numbers lie in a file. */
typedef enum io_kind { IO_BOOL, IO_SIGNED, IO_UNSIGNED, IO_FLOAT, IO_BRAIN /* bfloat16 */ } io_kind;
typedef struct io_number {
    io_kind kind;
    int width;
    bool big; /* endian */
} io_number;
/* The dtype numbers of this kind are given; false when there is none. */
bool io_dtype(io_number f, dtype *d);
/* Takes n numbers into `to`, which is of that dtype. */
bool io_numbers(io_in *in, io_number f, int64_t n, void *to);

/* A file being written. */
typedef struct io_out {
    prim_call *c;
    const char *path;
    int fd;
    char *part;    /* the name it has until it is done; NULL: written directly (a device, a pipe) */
    char **listed; /* where `part` stands among the unfinished files; NULL: nowhere */
    char *target;  /* the name it gets */
    bool failed;   /* the error is set; further bytes are dropped */
    bool durable;  /* on the disk before it gets its name, and the name before io_finish is back */
    text *to;      /* not NULL: bytes go here instead (a file inside a file) */
    size_t n;
    char buffer[1 << 16];
} io_out;
void io_put(io_out *out, const void *s, size_t n);
/* As prim_fail about the value to be saved; marks the file as failed. Always false. */
bool io_refuse(io_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

typedef struct io_format {
    const char *suffix, *holds; /* "csv", "an array" … */
    bool (*read)(io_in *in, value *out);
    bool (*write)(io_out *out, value v);
} io_format;

bool io_npy_read(io_in *in, value *out);
bool io_npy_write(io_out *out, value v);
bool io_idx_read(io_in *in, value *out);
bool io_idx_write(io_out *out, value v);
bool io_csv_read(io_in *in, value *out);
bool io_csv_write(io_out *out, value v);
bool io_tsv_read(io_in *in, value *out);
bool io_tsv_write(io_out *out, value v);

bool io_npz_read(io_in *in, value *out);
bool io_npz_write(io_out *out, value v);
bool io_safetensors_read(io_in *in, value *out);
bool io_safetensors_write(io_out *out, value v);
bool io_json_read(io_in *in, value *out);
bool io_json_write(io_out *out, value v);
bool io_png_read(io_in *in, value *out);
bool io_png_write(io_out *out, value v);
bool io_pnm_read(io_in *in, value *out);
bool io_pnm_write(io_out *out, value v);
bool io_state_read(io_in *in, value *out); /* sets the random state, too */
bool io_state_write(io_out *out, value v);
/* Whether a file whose first n bytes these are is a saved state, whatever its name. */
bool io_state_begins(const char *s, size_t n);

/* Appends a field without a look at those before it (record_set looks at each), consuming v; in the end record_twice
   gives a name that stands there twice, or 0. False: no memory. (io_tree.c) */
bool record_append(vm *m, record *u, symbol name, value v);
bool record_twice(vm *m, const record *u, symbol *twice);
/* Whether n bytes are UTF-8 text. (io_csv.c) */
bool utf8_valid(const char *s, size_t n);
/* JSON text as a value; errors say the line. */
bool json_parse(io_in *in, const char *s, size_t n, value *out);
/* v as 8-bit samples [height, width, channels], 1 to 4 of them: floats in [0, 1], whole numbers in 0..256 or bools.
   Freed by the caller with h * w * ch bytes of MEM_OTHER; NULL with the error set. */
uint8_t *image_bytes(io_out *out, value v, int64_t *h, int64_t *w, int *ch);

/* --- nested values by path (io_tree.c) ----------------------------------------------------------
 * A part is keyed by the names and places that lead to it: layers.0.w. */
typedef struct io_leaf {
    char *path;
    value v;
} io_leaf;
typedef struct io_leaves {
    memory *m;
    io_leaf *at;
    size_t n, cap;
} io_leaves; /* a reader's values are owned */
bool leaves_add(vm *m, io_leaves *l, const char *path, size_t n, value v);
/* The numbers in v; a part that is something else is an error. */
bool leaves_of(io_out *out, value v, io_leaves *l);
/* The nested value of what was read. Where paths contradict each other (a and a.b), a flat record. */
bool leaves_value(io_in *in, io_leaves *l, value *out);
void leaves_close(vm *m, io_leaves *l, bool owned);

/* The format of a path, and whether `.gz` stands behind it; NULL with the error set. */
const io_format *io_format_of(prim_call *c, const char *path, bool *packed);
bool io_open(io_in *in, prim_call *c, const char *path);
/* Up to n of the first bytes, which are still to be taken; how many. 0 where they could not be given back (a pipe). */
size_t io_look(const io_in *in, char *to, size_t n);
/* Up to n of the file's own bytes, packed or not; *got is 0 only at the end. */
bool io_raw(io_in *in, void *to, size_t n, size_t *got);
/* What is taken from here on is what the file unpacks to. (io_gz.c) */
bool io_unpack(io_in *in);
void io_unpack_close(io_in *in);
/* Up to n < 2^31 bytes of that, in *got; 0 only at the end. */
bool io_unpack_some(io_in *in, void *to, size_t n, size_t *got);
/* When the value has been read: false, with an error, if the packed file is cut off or its sum is wrong there. */
bool io_packed_end(io_in *in);
/* inflateInit2 with memory from m; false when there is none. */
struct z_stream_s;
bool io_inflate(struct z_stream_s *z, memory *m, int window);
void io_close(io_in *in);
bool io_create(io_out *out, prim_call *c, const char *path);
/* Removes the unfinished files of all VMs, for who ends the process without waiting for them; may be called from a
   signal handler or another thread. */
void io_abandon(void);
/* Gives the file its name, or removes it when anything failed. */
bool io_finish(io_out *out);
#endif
