/* io.h: what the tests of files share: a folder of their own, load and save by the rows, and messages. */
#include "print.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "unit.h"

#pragma GCC diagnostic ignored "-Wunused-function"
static vm *m;
static size_t held; /* what an open VM holds by itself */
static char folder[64], path[128];
static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
static void open_vm(void)
{
    strcpy(folder, "/tmp/replay-io-XXXXXX");
    ck_assert(mkdtemp(folder) != NULL);
    m = vm_open(NULL);
    ck_assert(m != NULL);
    held = m->mem.live[MEM_OTHER];
}
static void close_vm(void)
{
    ck_assert(m->error == NULL);
    ck_assert_uint_eq(m->mem.live[MEM_OTHER], held);
    vm_close(m);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert(system(command) == 0);
}
static void write_file(const char *name, const void *s, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");
    ck_assert(f && fwrite(s, 1, n, f) == n);
    fclose(f);
}
static value str(const char *s) { return value_object(&string_new(m, s, strlen(s))->h); }
static bool apply(const char *row, const char *name, value *second, value *out)
{
    value args[2] = {str(in_folder(name)), second ? *second : value_undef()};
    bool ok = prim_apply(m, prim_named(row), args, second ? 2 : 1, 0, out);
    value_release(m, args[0]);
    return ok;
}
static value load(const char *name)
{
    value out = value_undef();
    bool ok = apply("load", name, NULL, &out);
    ck_assert_msg(ok, "%s", m->error ? m->error->message : "no error");
    return out;
}
static void save(const char *name, value v)
{
    value out;
    bool ok = apply("save", name, &v, &out);
    ck_assert_msg(ok, "%s", m->error ? m->error->message : "no error");
}
/* The message without the folder. */
static void failed_with(const char *want)
{
    ck_assert(m->error != NULL);
    char got[512], *s = m->error->message, *cut = strstr(s, folder);
    if (cut) snprintf(got, sizeof got, "%.*s%s", (int)(cut - s), s, cut + strlen(folder) + 1);
    else snprintf(got, sizeof got, "%s", s);
    ck_assert_str_eq(got, want);
    diag_free(m->error);
    m->error = NULL;
}
static void load_fails(const char *name, const char *want)
{
    value out;
    ck_assert(!apply("load", name, NULL, &out));
    failed_with(want);
}
static void looks(value v, const char *want)
{
    text t;
    text_open(&t, &m->mem);
    value_print(m, v, PRINT_REPR, &t);
    ck_assert_str_eq(text_str(&t), want);
    text_close(&t);
    value_release(m, v);
}
static value ramp(dtype d, int rank, const int64_t *shape)
{
    array *a = array_new(m, d, rank, shape);
    for (int64_t i = 0; i < a->size; i++) array_put(a, i, value_f64((double)(i - 1) * (d >= DTYPE_F32 ? 0.5 : 1)));
    return value_object(&a->h);
}
