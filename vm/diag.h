/* diag.h: source texts, spans, and diagnostics as objects.
 *
 * A diagnostic is built once where the fault is seen and rendered by whoever shows it: file, line
 * and column, the line itself, carets under each labelled span, notes, call frames and one
 * suggestion. Columns count code points from 1. */
#ifndef REPLAY_DIAG_H
#define REPLAY_DIAG_H
#include "text.h"

/* A text that positions refer to. Reference counted: Code keeps its source alive. */
typedef struct source {
    memory *m;
    uint32_t refs;
    char *name; /* as shown: a path as given, "<command line>", "<stdin>", "rule of tanh" */
    char *text; /* NUL-terminated copy */
    size_t length;
    uint32_t *lines; /* byte offset of each line's start */
    uint32_t nlines;
} source;
/* Copies name and text. NULL when refused. */
source *source_new(memory *m, const char *name, const char *text, size_t length);
source *source_retain(source *s);
void source_release(source *s);

/* Bytes [lo, hi) of a source; lo == hi is a point. src NULL: no place known. */
typedef struct span {
    source *src; /* borrowed: whoever stores a span keeps the source alive */
    uint32_t lo, hi;
} span;
/* The line, from 1, that byte `at` lies on; at <= s->length. */
uint32_t source_line(const source *s, uint32_t at);
/* Line and column (code points), both from 1; 0 and 0 when no place is known. */
void span_where(span s, uint32_t *line, uint32_t *column);

typedef enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } severity;

/* One stable code per kind of fault; `replay` prints it as error[shape]. */
typedef enum diag_code {
    DIAG_SYNTAX,
    DIAG_NAME,
    DIAG_ARITY,
    DIAG_TYPE,
    DIAG_SHAPE,
    DIAG_INDEX,
    DIAG_VALUE,
    DIAG_ARITHMETIC,
    DIAG_CONTRACT,
    DIAG_ASSERT,
    DIAG_USER,
    DIAG_DERIVATIVE,
    DIAG_MEMORY,
    DIAG_BUDGET,
    DIAG_FILE,
    DIAG_IMPORT,
    DIAG_NAN,
    DIAG_INTERRUPT,
    DIAG_UNREACHABLE,
    DIAG_UNUSED,
    DIAG_CAPTURE,
    DIAG_CHECKPOINT,
    DIAG_INTERNAL,
    DIAG_CODES
} diag_code;
/* "syntax", "name", … */
const char *diag_code_name(diag_code c);

typedef struct diag_label {
    span at;
    char *message; /* owned; may be "" */
} diag_label;
typedef struct diag_frame {
    span at;
    char *function;
} diag_frame; /* innermost first */
/* A label or frame in a diagnostic holds a reference to its source. */

typedef struct diag {
    memory *m;
    severity severity;
    diag_code code;
    char *message; /* one sentence, no full stop, starts in lower case */
    diag_label *labels;
    uint32_t nlabels; /* the first is where it happened */
    char **notes;
    uint32_t nnotes;
    char *help; /* one suggestion that works when pasted, or NULL */
    diag_frame *frames;
    uint32_t nframes, frames_left_out;
    bool adjoint;      /* the adjoint program was running, of labels[0]'s source line */
    struct diag *next; /* in a list of several */
} diag;

/* All return the diagnostic, or NULL when there is no memory for it; every adder accepts NULL.
   Building an error never fails the program in another way than the error itself: where memory is at its
   limit, diagnostics may take DIAG_RESERVE more. */
enum { DIAG_RESERVE = 64 * 1024 };
diag *diag_new(memory *m, severity s, diag_code c, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_label_add(diag *d, span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_note_add(diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_help_set(diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Call it for every frame, innermost first: of a deep stack the first and the last
   DIAG_FRAMES_KEPT / 2 are kept, the rest counted in frames_left_out. */
enum { DIAG_FRAMES_KEPT = 20 };
void diag_frame_add(diag *d, span at, const char *function);
void diag_free(diag *d); /* the whole list */
/* Renders one diagnostic (not its `next`) as text ending in a newline. */
void diag_render(const diag *d, bool colour, text *out);

/* The nearest of `names` by edit distance, within a third of the length; NULL when none is near. */
const char *nearest_name(const char *name, const char *const *names, size_t n);
#endif
