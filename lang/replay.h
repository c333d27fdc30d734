/* replay.h: Replay inside another program. The one public header of libreplay (pkg-config: replay).
 *
 *     replay_config config = {.size = sizeof config};
 *     replay *r = replay_open(&config);
 *     replay_load(r, "model", "fn loss(w, x, y) = mean((x @ w - y)^2)", 0);
 *     replay_value *grad = replay_grad(r, replay_get(r, "loss"), NULL);
 *
 * A `replay` is one VM. Any number live side by side, each used by one thread at a time; nothing is shared
 * between them. (With OpenMP at work in each, set `threads` so that they do not crowd the machine.)
 *
 * Values are immutable. A `replay_value` is a counted handle on one: a function that returns a handle gives
 * you one reference, which replay_release takes back; handles passed in are borrowed. replay_close
 * releases whatever handles are left, which must not be used any more.
 *
 * Failure: a function that returns a pointer returns NULL, one that returns a bool returns false, and
 * replay_error says why. Nothing aborts or exits. Passing NULL where a handle is expected is such a
 * failure too and keeps the error that is already there, so calls may be nested and checked once.
 *
 * Shapes are int64_t per axis, at most REPLAY_RANK_MAX of them, row-major; strides count elements. Texts are
 * UTF-8. A length of 0 for a text means that it ends with a NUL. Sizes are bytes, times are seconds. */
#ifndef REPLAY_H
#define REPLAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REPLAY_API __attribute__((visibility("default")))
#define REPLAY_RANK_MAX 8

typedef struct replay replay;
typedef struct replay_value replay_value;

typedef enum replay_dtype { REPLAY_BOOL /* one byte, 0 or 1 */, REPLAY_I64, REPLAY_F32, REPLAY_F64 } replay_dtype;
typedef enum replay_type {
    REPLAY_NONE,
    REPLAY_ARRAY, /* numbers, too: they have rank 0 */
    REPLAY_STRING,
    REPLAY_TUPLE,
    REPLAY_RECORD,
    REPLAY_FUNCTION,
    REPLAY_OTHER /* what programs cannot look into */
} replay_type;

/* --- diagnostics ---------------------------------------------------------------------------- */

typedef enum replay_severity { REPLAY_ERROR, REPLAY_WARNING, REPLAY_INFO } replay_severity;

typedef struct replay_diagnostic {
    replay_severity severity;
    const char *code;      /* "shape", "name", "memory", "interrupt", … as in error[shape] */
    const char *message;   /* one sentence */
    const char *file;      /* name of the text it is in, "" when there is no place */
    uint32_t line, column; /* from 1, columns in code points; 0 when there is no place */
    const char *rendered;  /* the whole report, several lines, as the command shows it */
} replay_diagnostic;

/* --- opening -------------------------------------------------------------------------------- */

/* Everything not set is 0: no limit, f64, every processor, random numbers from seed 0. */
typedef struct replay_config {
    size_t size;  /* sizeof(replay_config) */
    bool float32; /* the program's floats are f32 */
    int threads;  /* of array operations */
    uint64_t seed;
    size_t limit;        /* bytes that everything in the VM may take; beyond it: error "memory" */
    size_t budget;       /* bytes that live arrays may take; what does not fit is computed again */
    double time_limit;   /* seconds that one call of this library may run; beyond it: error "interrupt" */
    size_t output_limit; /* bytes that may be printed in all; beyond it: error "interrupt" */
    bool no_files;       /* programs neither read nor write files, nor see the environment */
    bool no_optimise;    /* run Code as it was written */
    bool trace_nan;      /* stop at the operation that makes the first nan or inf */
    void *user;          /* given to the callbacks below, which must not call this library */
    /* What programs print. False: it cannot be written, an error. NULL: standard output. */
    bool (*output)(void *user, const char *text, size_t length);
    /* Warnings and notes, and the errors of a text beyond the first; `d` is valid during the call. NULL:
       standard error. */
    void (*diagnostic)(void *user, const replay_diagnostic *d);
    /* The text of the module imported as `path` by the text called `importer`: from malloc, *length set;
       Replay frees it. NULL: look for it as usual (the library's modules, then files). */
    char *(*module)(void *user, const char *path, const char *importer, size_t *length);
    int argc; /* what args() gives; argv must outlive the VM */
    char **argv;
} replay_config;

/* Opens a VM; config is copied, NULL is all defaults. NULL when there is no memory (or the limit is below the
   two megabytes or so that a VM takes). */
REPLAY_API replay *replay_open(const replay_config *config);
/* Releases all values and closes. NULL is fine. Not to be called from a callback. */
REPLAY_API void replay_close(replay *r);
/* "0.1.0" */
REPLAY_API const char *replay_version(void);
/* Why the last call failed; NULL when none did. Valid until the next call with r. */
REPLAY_API const replay_diagnostic *replay_error(const replay *r);
/* Makes the running program stop at its next instruction with the error "interrupt"; with none running, the
   next one. The one function that any thread and any signal handler may call at any time. */
REPLAY_API void replay_interrupt(replay *r);
/* Bytes that the VM holds now and held at most; wrapped memory is not counted. Either may be NULL. */
REPLAY_API void replay_memory(const replay *r, size_t *live, size_t *peak);

/* --- programs ------------------------------------------------------------------------------- */

/* Runs a text; its variables and top-level functions are there for later texts, replay_get and
   replay_call. `name` stands for it in messages. Gives the value of its last statement (none when that is no
   expression). On failure every variable, every function and the random state are as before. */
REPLAY_API replay_value *replay_load(replay *r, const char *name, const char *text, size_t length);
/* The same for a file; imports that start with a dot are found beside it. Errors "file", too. */
REPLAY_API replay_value *replay_load_file(replay *r, const char *path);
/* A variable or top-level function; error "name". */
REPLAY_API replay_value *replay_get(replay *r, const char *name);
/* Sets a variable. `name` should be a name of the language, else no program can read it. */
REPLAY_API bool replay_set(replay *r, const char *name, const replay_value *v);
/* Calls a function by name: of the loaded texts, or a builtin ("sum"). Arguments are positional. */
REPLAY_API replay_value *replay_call(replay *r, const char *name, const replay_value *const *args, size_t n);
/* Calls a function value. Error "type" when it is none, "arity", and whatever it fails with. */
REPLAY_API replay_value *replay_apply(replay *r, const replay_value *f, const replay_value *const *args, size_t n);

/* --- derivatives ---------------------------------------------------------------------------- */

/* The gradient function of f, which must return one number. `wrt`: NULL for the first argument, else a
   number (position), a string (name) or a tuple of them; see grad in the language. A gradient has the
   structure, shapes and dtypes of its argument. */
REPLAY_API replay_value *replay_grad(replay *r, const replay_value *f, const replay_value *wrt);
/* f(args...) and, in *gradient (owned by the caller), its gradient by the first argument or by `wrt`. */
REPLAY_API replay_value *replay_value_and_grad(replay *r, const replay_value *f, const replay_value *wrt, const replay_value *const *args,
                                               size_t n, replay_value **gradient);
/* f(args...) and, in *back (owned), the function that takes a cotangent of the result's structure and shapes to
   the arguments' (one for one argument, else a tuple). *back holds what the adjoint program needs. */
REPLAY_API replay_value *replay_vjp(replay *r, const replay_value *f, const replay_value *const *args, size_t n, replay_value **back);
/* f(args...) and, in *tangent (owned), its directional derivative; tangents are like args. */
REPLAY_API replay_value *replay_jvp(replay *r, const replay_value *f, const replay_value *const *args, const replay_value *const *tangents,
                                    size_t n, replay_value **tangent);

/* --- making values -------------------------------------------------------------------------- */

REPLAY_API replay_value *replay_none(replay *r);
REPLAY_API replay_value *replay_bool(replay *r, bool x);
REPLAY_API replay_value *replay_i64(replay *r, int64_t x);
REPLAY_API replay_value *replay_f64(replay *r, double x);
REPLAY_API replay_value *replay_f32(replay *r, float x);
/* A number as a literal in a program is: it takes the dtype of what it meets. */
REPLAY_API replay_value *replay_number(replay *r, double x);
/* A copy of a text; error "value" when it is not UTF-8. */
REPLAY_API replay_value *replay_string(replay *r, const char *text, size_t length);
/* Copies of the parts' handles (the parts are shared, not copied). n may be 0. */
REPLAY_API replay_value *replay_tuple(replay *r, const replay_value *const *parts, size_t n);
/* Fields in this order; a repeated name is an error. */
REPLAY_API replay_value *replay_record(replay *r, const char *const *names, const replay_value *const *parts, size_t n);
/* Copies dense row-major data of shape[rank]; rank 0 is a number. Error "shape" for a negative size, one that
   overflows, or a rank beyond REPLAY_RANK_MAX. */
REPLAY_API replay_value *replay_array(replay *r, replay_dtype dtype, int rank, const int64_t *shape, const void *data);
/* The same without a copy: rank is at least 1, `strides` in elements (NULL: dense; may be negative or 0; data
   points to the element at index 0). The memory is never written by Replay, and has to stay readable and
   unchanged until done(user, data) is called (from within any call with r; done may be NULL; it must not
   call Replay). On failure done is not called. */
REPLAY_API replay_value *replay_wrap(replay *r, replay_dtype dtype, int rank, const int64_t *shape, const int64_t *strides,
                                     const void *data, void (*done)(void *user, void *data), void *user);

/* --- looking at values ---------------------------------------------------------------------- */

/* One more reference to the same handle; returns it. */
REPLAY_API replay_value *replay_retain(replay_value *v);
/* NULL is fine. */
REPLAY_API void replay_release(replay_value *v);
REPLAY_API replay_type replay_type_of(const replay_value *v); /* REPLAY_NONE for NULL */

typedef struct replay_view {
    replay_dtype dtype;
    int rank;
    int64_t size;           /* elements in all */
    const int64_t *shape;   /* [rank] */
    const int64_t *strides; /* [rank], in elements: 0 or negative where Replay shares memory */
    const void *data;       /* the element at index 0 */
    bool dense;             /* row-major without gaps */
} replay_view;
/* Looks into an array or number without copying: valid, and unchanged, as long as the handle is held. Error
   "type" when v is neither. */
REPLAY_API bool replay_view_of(replay_value *v, replay_view *view);
/* Copies all elements, row-major, converted to dtype (a float to i64 is cut towards 0), into `to`, which has
   room for `room` elements. Errors: "type"; "value" when the array has another number of elements. */
REPLAY_API bool replay_read(replay_value *v, replay_dtype dtype, void *to, size_t room);
/* A number of any dtype. Error "type" when v is none. */
REPLAY_API bool replay_to_double(replay_value *v, double *x);
/* A whole number of any dtype that fits. Errors "type", "value". */
REPLAY_API bool replay_to_i64(replay_value *v, int64_t *x);
/* The bytes of a string, NUL-terminated, valid as long as the handle is held; *length may be NULL. */
REPLAY_API const char *replay_text_of(replay_value *v, size_t *length);
/* Elements of a tuple, fields of a record, bytes of a string, size of an array's first axis; 0 for all else. */
REPLAY_API size_t replay_length(const replay_value *v);
/* Element i of a tuple or field i of a record. Errors "type", "index". */
REPLAY_API replay_value *replay_item(replay_value *v, size_t i);
/* A field of a record. Errors "type", "name". */
REPLAY_API replay_value *replay_field(replay_value *v, const char *name);
/* The name of field i; NULL when there is none. Lives as long as the VM. */
REPLAY_API const char *replay_field_name(replay_value *v, size_t i);
/* As print() shows it. Valid until the handle is released or printed again. */
REPLAY_API const char *replay_print(replay_value *v);

/* --- functions of the host ------------------------------------------------------------------ */

/* Called with borrowed handles; returns an owned one, or NULL after replay_fail. It may make and look at
   values; it may not run programs (error "internal"). */
typedef replay_value *replay_function(replay *r, replay_value *const *args, size_t n, void *user);

typedef enum replay_effect {
    REPLAY_PURE,  /* the result depends on the arguments alone */
    REPLAY_READS, /* it reads the world: when a checkpoint block is replayed, it gives what it gave at first */
    REPLAY_WRITES /* it has a visible effect, which happens once; it returns none */
} replay_effect;

typedef struct replay_primitive {
    size_t size;            /* sizeof(replay_primitive) */
    const char *name;       /* a name of the language that is no builtin yet */
    const char *parameters; /* "x, w": names of the language; always that many arguments come */
    /* Replay text of a function from the result's cotangent, the result and the arguments to the arguments'
       cotangents: one for one argument, else a tuple (none for an argument without derivative):
       "fn(dy, y, x, w) = (dy * w, dy * x)". It may call functions of the host that were registered before, which gives higher
       derivatives; the forward mode is its transpose. NULL: differentiating it is an error (REPLAY_PURE) or
       gives zero. */
    const char *derivative;
    const char *help; /* one or more lines, or NULL */
    replay_effect effect;
    replay_function *call;
    void *user;
} replay_primitive;
/* Makes it a builtin: texts and modules loaded later may call it. Errors: "name" (taken, or no name), "syntax"
   in the derivative. `p` is copied. */
REPLAY_API bool replay_register(replay *r, const replay_primitive *p);
/* From within a replay_function: the program fails with this message. Returns NULL. */
REPLAY_API replay_value *replay_fail(replay *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
