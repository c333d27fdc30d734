/* main.c: the command line. Options first, then what to run; see `usage`. */
#include "command.h"
#include "deadline.h"
#include "options.h"
#include "signals.h"
#include "view.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: replay                      the REPL (on a terminal), or a script from a pipe\n"
                            "       replay [options] FILE [args] runs a script; `-` reads it from standard input\n"
                            "       replay [options] -e CODE [args]\n"
                            "       replay repl                 the REPL, whatever standard input is\n"
                            "       replay check FILE           says what is wrong, without running it\n"
                            "       replay dis FILE [FUNCTION]  lists its Code\n"
                            "       replay adjoint FILE FUNCTION lists the forward and the adjoint program of a function\n"
                            "       replay table FILE 'f(args)'  every intermediate value with its cotangent\n"
                            "       replay graph FILE 'f(args)'  the computation as a picture\n"
                            "       replay saved FILE 'f(args)'  what the forward pass keeps, why, and what each block saves\n"
                            "       replay memory FILE ['f(args)']  bytes held over the run, with and without the blocks\n"
                            "       replay memory FILE --least   the smallest budget that is enough\n"
                            "       replay schedule FILE 'f(args)'  steps run, stored, restored and reversed\n"
                            "       replay step FILE 'f(args)'   goes through both programs line by line\n"
                            "       all of these: -o FILE.svg, .json, .txt (graph: .dot) writes it there;\n"
                            "       --save=nothing, everything, dots or dots_no_batch is tried for every block\n"
                            "       replay spec                 prints the builtins and the opcodes, as in SPEC.md\n"
                            "options:\n";

static void print_usage(void)
{
    fputs(usage, stdout);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *r = &option_rows[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", r->name, *r->value ? " " : "", r->value);
        printf("  %-18s %s\n", name, r->help);
    }
}

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("replay: ", stderr);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\nTry `replay --help`.\n", stderr);
    return 2;
}

/* "64MB", "1.5GiB", "1000" → bytes; false when it is none. */
static bool size_of(const char *s, size_t *out)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},         {"B", 1},        {"KB", 1e3},     {"MB", 1e6}, {"GB", 1e9},   {"TB", 1e12},  {"KiB", 0x1p10},
                 {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"k", 1e3},  {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}};
    char *end;
    if (*s < '0' || *s > '9') return false;
    double x = strtod(s, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name)) {
            x = ceil(x * units[i].bytes);
            if (!(x >= 1 && x < 0x1p62)) return false;
            *out = (size_t)x;
            return true;
        }
    return false;
}

static bool whole_of(const char *s, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return false;
    *out = strtoull(s, &end, 0);
    return !*end && !errno && *out <= most;
}

typedef struct command_line {
    vm_config config;
    run_options run;
    const char *code; /* -e */
    int done;         /* status to leave with, -1: go on */
    double seconds;   /* --time, 0: none */
    int next;         /* first argument that is no option */
} command_line;

/* The value of `--name=value` or of `--name value`; NULL when argv[*i] is another option. */
static const char *value_of(int argc, char **argv, int *i, const char *name, bool *missing)
{
    size_t n = strlen(name);
    const char *a = argv[*i];
    if (strncmp(a, name, n)) return NULL;
    if (a[n] == '=') return a + n + 1;
    if (a[n]) return NULL;
    if (*i + 1 < argc) return argv[++*i];
    *missing = true;
    return "";
}

const char *lapack_describe(void); /* vm/lapack.h, without what it includes */

static void version(void) { printf("replay %s\n%s\n", REPLAY_VERSION, lapack_describe()); }

/* A whole number within its range, for an option. */
static bool whole_option(command_line *l, const option_row *r, const char *v, uint64_t least, uint64_t most, uint64_t *out)
{
    if (whole_of(v, most, out) && *out >= least) return true;
    l->done = most == UINT64_MAX ? wrong("%s needs a whole number, not `%s`", r->name, v)
                                 : wrong("%s needs a whole number from %llu to %llu, not `%s`", r->name, (unsigned long long)least,
                                         (unsigned long long)most, v);
    return false;
}

static void size_option(command_line *l, const option_row *r, const char *v, const char *example, size_t *out)
{
    if (!size_of(v, out)) l->done = wrong("%s needs a size such as %s, not `%s`", r->name, example, v);
}

static void set_option(command_line *l, option_id id, const char *v)
{
    vm_config *c = &l->config;
    const option_row *r = &option_rows[id];
    uint64_t n;
    char *end = NULL;
    switch (id) {
    case OPTION_BUDGET: size_option(l, r, v, "64MB", &c->budget); return;
    case OPTION_LIMIT: size_option(l, r, v, "1GiB", &c->limit); return;
    case OPTION_MAX_OUTPUT: size_option(l, r, v, "1MB", &c->output_limit); return;
    case OPTION_TIME:
        l->seconds = *v >= '0' && *v <= '9' ? strtod(v, &end) : 0;
        if (!end || *end || !(l->seconds > 0 && l->seconds < 1e9)) l->done = wrong("--time needs a number of seconds, not `%s`", v);
        return;
    case OPTION_NO_FILES: c->no_files = true; return;
    case OPTION_FLOAT:
        if (!strcmp(v, "f32")) c->float_dtype = DTYPE_F32;
        else if (!strcmp(v, "f64")) c->float_dtype = DTYPE_F64;
        else l->done = wrong("--float is f32 or f64, not `%s`", v);
        return;
    case OPTION_THREADS:
        if (whole_option(l, r, v, 1, 4096, &n)) c->threads = (int)n;
        return;
    case OPTION_SEED:
        if (whole_option(l, r, v, 0, UINT64_MAX, &n)) c->seed = n;
        return;
    case OPTION_TRACE_NAN: c->trace_nan = true; return;
    case OPTION_STATS: l->run.stats = true; return;
    case OPTION_STATS_JSON: l->run.stats_json = true; return;
    case OPTION_PROFILE: c->profile = true; return;
    case OPTION_NO_OPTIMISE: c->optimise = c->fuse = false; return;
    case OPTION_NO_FUSE: c->fuse = false; return;
    case OPTION_NO_POOL: c->pool = false; return;
    case OPTION_HELP:
        print_usage();
        l->done = 0;
        return;
    case OPTION_VERSION:
        version();
        l->done = 0;
        return;
    case OPTION_COUNT: return;
    }
}

static void unknown_option(command_line *l, const char *a)
{
    const char *known[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) known[i] = option_rows[i].name;
    const char *near = nearest_name(a, known, OPTION_COUNT);
    l->done = near ? wrong("unknown option %s; did you mean %s?", a, near) : wrong("unknown option %s", a);
}

static void read_options(int argc, char **argv, command_line *l)
{
    int i = 1;
    for (; i < argc && l->done < 0; i++) {
        const char *a = argv[i], *v = NULL;
        bool missing = false;
        if (a[0] != '-' || !a[1]) break;
        if (!strcmp(a, "--")) {
            i++;
            break;
        }
        if ((v = value_of(argc, argv, &i, "-e", &missing))) {
            l->code = v;
            i++;
            if (missing) l->done = wrong("%s needs code", a);
            break;
        }
        if (!strcmp(a, "-h")) a = "--help";
        if (!strcmp(a, "--no-opt")) a = "--no-optimise";
        int id = 0;
        for (; id < OPTION_COUNT; id++) {
            const option_row *r = &option_rows[id];
            if (*r->value ? (v = value_of(argc, argv, &i, r->name, &missing)) != NULL : !strcmp(a, r->name)) break;
        }
        if (id < OPTION_COUNT) set_option(l, (option_id)id, v);
        else if (!strncmp(a, "--stats=", 8)) l->done = wrong("%s: only json is known after `--stats=`", a);
        else unknown_option(l, a);
    }
    l->next = i;
}

/* Standard input to its end. */
static char *read_input(size_t *length)
{
    size_t n = 0, cap = 65536;
    char *s = malloc(cap);
    while (s) {
        size_t k = fread(s + n, 1, cap - n, stdin);
        n += k;
        if (k == 0) break;
        if (n == cap) {
            char *p = realloc(s, cap *= 2);
            if (!p) free(s);
            s = p;
        }
    }
    *length = n;
    return s;
}

static int run_file(host *h, const char *path, const run_options *o)
{
    bool input = !strcmp(path, "-");
    size_t n = 0;
    char *s = input ? read_input(&n) : host_read(h, path, &n);
    if (!s) {
        if (input) vm_out_of_memory(h->vm);
        host_show_error(h);
        return input ? 1 : 2;
    }
    int status = command_run(h, input ? "<stdin>" : path, s, n, o);
    free(s);
    return status;
}

static bool view_word(const char *word)
{
    static const char *const words[] = {"adjoint", "table", "graph", "saved", "memory", "schedule", "step"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], word)) return true;
    return false;
}

static int run_command(host *h, const char *word, int argc, char **argv)
{
    if (!strcmp(word, "spec")) return argc ? wrong("too many arguments after `replay spec`") : command_spec(h);
    if (view_word(word)) return command_view(h, word, argc, argv);
    bool dis = !strcmp(word, "dis");
    if (argc < 1) return wrong("`replay %s` needs a file", word);
    if (argc > (dis ? 2 : 1)) return wrong("too many arguments after `replay %s`", word);
    if (dis) return command_dis(h, argv[0], argc > 1 ? argv[1] : NULL);
    return command_check(h, argv[0]);
}

/* Threads of libgomp wait for work by spinning, some 15 ms by default, which starves whatever else the
   machine runs. It reads its setting in a constructor, which comes after this one (the command is linked
   with the archive of it): about 1 ms, unless the user chose another. Less than lies between two parallel
   instructions of a small model (50 us) and they sleep each time: a recurrent network took 1.4 times as long. */
__attribute__((constructor(101))) static void wait_briefly(void)
{
    if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "20000", 0);
}

static int run_line(int argc, char **argv)
{
    command_line l = {.config = vm_config_default(), .done = -1};
    read_options(argc, argv, &l);
    if (l.done >= 0) return l.done;
    const char *word = l.next < argc && !l.code ? argv[l.next] : NULL;
    bool repl = word && !strcmp(word, "repl");
    bool command = word && (!strcmp(word, "check") || !strcmp(word, "dis") || view_word(word) || !strcmp(word, "spec"));
    int args = l.next + (word != NULL); /* what args() gives */
    l.config.argc = argc > args ? argc - args : 0;
    l.config.argv = argv + args;
    if (word && !strcmp(word, "memory") && l.config.argc == 2 && !strcmp(l.config.argv[1], "--least"))
        return command_least(&l.config, l.seconds, l.config.argv[0]);
    host h = {.colour = isatty(2) && !getenv("NO_COLOR")};
    if (!host_open(&h, &l.config)) {
        fputs("replay: no memory to start with\n", stderr);
        return 1;
    }
    int status;
    deadline *d = l.seconds > 0 ? deadline_open(&h.vm->interrupt, 2) : NULL;
    if (l.seconds > 0 && !d) {
        fputs("replay: no memory\n", stderr);
        host_close(&h);
        return 1;
    }
    bool prompt = !l.code && (repl || (!word && isatty(0)));
    h.deadline = d;
    h.seconds = l.seconds;
    if (d && !prompt) deadline_arm(d, l.seconds);
    h.watched = l.code || (command ? view_word(word) && strcmp(word, "step") : !prompt); /* step reads keys */
    if (h.watched) signals_watch(&h.vm->interrupt);
    if (l.code) status = command_run(&h, "<command line>", l.code, strlen(l.code), &l.run);
    else if (command) status = run_command(&h, word, l.config.argc, l.config.argv);
    else if (repl) status = command_repl(&h);
    else if (word) status = run_file(&h, word, &l.run);
    else if (isatty(0)) status = command_repl(&h);
    else status = run_file(&h, "-", &l.run);
    signals_watch(NULL);
    deadline_close(d);
    host_close(&h);
    return status;
}

int main(int argc, char **argv)
{
    int status = command_end(run_line(argc, argv));
    signals_leave();
    return status;
}
