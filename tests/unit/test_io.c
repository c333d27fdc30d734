/* test_io.c: files that are right, and files that are not. */
#include "io.h"
#include "../../vm/io.h"
#include <math.h>
#include <zlib.h>

START_TEST(npy_comes_back)
{
    open_vm();
    static const int64_t shapes[][3] = {{7, 0, 0}, {2, 3, 0}, {2, 1, 4}, {0, 3, 0}, {3000, 2, 2}};
    static const int ranks[] = {1, 2, 3, 2, 3};
    for (int d = DTYPE_BOOL; d <= DTYPE_F64; d++)
        for (int i = 0; i < 5; i++) {
            value v = ramp((dtype)d, ranks[i], shapes[i]);
            save("a.npy", v);
            value w = load("a.npy");
            ck_assert(value_same(v, w));
            value_release(m, v), value_release(m, w);
        }
    save("s.npy", value_i64(-5));
    looks(load("s.npy"), "-5");
    save("s.npy", value_weak(0.5, WEAK_FLOAT));
    looks(load("s.npy"), "0.5");
    /* Nothing is left beside. */
    ck_assert(access(in_folder("s.npy"), F_OK) == 0);
    char command[128];
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 2", folder);
    ck_assert(system(command) == 0);
    close_vm();
}
END_TEST

START_TEST(abandoned_files_go)
{
    open_vm();
    save("a.npy", value_i64(1));
    io_out *out = malloc(sizeof *out); /* io_out has its buffer within */
    prim_call c = {.vm = m, .p = prim_named("save")};
    ck_assert(io_create(out, &c, in_folder("a.npy")));
    ck_assert(out->part && access(out->part, F_OK) == 0);
    char part[600];
    snprintf(part, sizeof part, "%s", out->part);
    io_put(out, "half", 4);
    io_abandon();
    ck_assert(access(part, F_OK) != 0);
    looks(load("a.npy"), "1");
    close(out->fd), free(out->part), free(out->target), free(out);
    /* One that is finished is not among them. */
    save("a.npy", value_i64(2));
    io_abandon();
    looks(load("a.npy"), "2");
    close_vm();
}
END_TEST

static void npy(const char *name, int version, const char *header, const void *data, size_t n)
{
    char s[1024] = "\x93NUMPY";
    size_t k = strlen(header), at = version == 1 ? 10 : 12;
    s[6] = (char)version, s[7] = 0;
    s[8] = (char)(k & 255), s[9] = (char)(k >> 8), s[10] = s[11] = 0;
    memcpy(s + at, header, k);
    memcpy(s + at + k, data, n);
    write_file(name, s, at + k + n);
}

START_TEST(npy_of_others)
{
    open_vm();
    npy("a.npy", 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", "\xff\xfe\x01\x00", 4);
    looks(load("a.npy"), "[-2, 256]");
    npy("a.npy", 2, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"|u1\"}", "\1\2\3\4\5\6", 6);
    looks(load("a.npy"), "[[1, 3, 5],\n [2, 4, 6]]");
    npy("a.npy", 3, "{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "\x3f\x80\0\0", 4);
    looks(load("a.npy"), "1");
    npy("a.npy", 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 1)}", "\0\7", 2);
    looks(load("a.npy"), "[[false],\n [true]]");
    npy("a.npy", 1, "{'descr': '>f2', 'fortran_order': False, 'shape': (3,)}", "\x3c\x00\xfc\x00\x00\x01", 6);
    looks(load("a.npy"), "[1, -inf, 5.9604645e-8]");
    npy("a.npy", 1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", "\7\0\0\0\0\0\0\0", 8);
    looks(load("a.npy"), "[7]");
    npy("a.npy", 1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", "\7\0\0\0\0\0\0\x80", 8);
    load_fails("a.npy", "load(): a.npy: 9223372036854775815 is beyond what an i64 holds");
    npy("a.npy", 1, "{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}", "", 0);
    load_fails("a.npy", "load(): a.npy: its dtype is '<c16'; those that can be read are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool");
    npy("a.npy", 1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", "", 0);
    load_fails("a.npy", "load(): a.npy: its numbers are records of fields (a structured dtype), which has no counterpart here");
    npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", "12345678", 8);
    load_fails("a.npy", "load(): a.npy: the header says 24 bytes follow, and there are 8");
    npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", "", 0);
    load_fails("a.npy", "load(): a.npy: its shape is larger than 64 bits can count");
    npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999999,)}", "", 0);
    load_fails("a.npy", "load(): a.npy: the header says more than memory can hold: 999999999999999999 elements of 8 bytes");
    npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", "", 0);
    load_fails("a.npy", "load(): a.npy: byte 44, in the header: expected True or False");
    npy("a.npy", 1, "{'descr': '<f8'}", "", 0);
    load_fails("a.npy", "load(): a.npy: the header lacks one of descr, fortran_order and shape");
    write_file("a.npy", "PK\3\4....", 8);
    load_fails("a.npy", "load(): a.npy: it does not start as a .npy file does");
    write_file("a.npy", "\x93NUM", 4);
    load_fails("a.npy", "load(): a.npy: the file ends at byte 4, within the first bytes of 8 bytes from byte 0");
    load_fails("none.npy", "load(): none.npy: No such file or directory");
    write_file("a.xyz", "", 0);
    load_fails("a.xyz", "load(): a.xyz: the suffix says the format, and is none of .npy, .npz, .safetensors, .json, .png, .pgm, "
                        ".ppm, .csv, .tsv, .state, .idx");
    close_vm();
}
END_TEST

/* Every prefix of a file, and thousands of damaged ones, give a value or an error. */
START_TEST(damage_is_an_error)
{
    open_vm();
    value v = ramp(DTYPE_F32, 2, (int64_t[]){2, 3});
    static const char *const names[] = {"a.npy", "a.csv", "a.idx"};
    uint32_t state = 1;
    for (int k = 0; k < 3; k++) {
        save(names[k], v);
        char s[512];
        FILE *f = fopen(in_folder(names[k]), "rb");
        size_t n = fread(s, 1, sizeof s, f);
        fclose(f);
        for (int round = 0; round < 4000; round++) {
            char t[512];
            memcpy(t, s, n);
            size_t length = n;
            if (round < (int)n) length = (size_t)round;
            else
                for (int hits = round % 4 + 1; hits > 0; hits--) {
                    state = state * 1664525 + 1013904223;
                    t[(state >> 8) % n] = (char)(state >> 24);
                }
            write_file(names[k], t, length);
            value out;
            if (apply("load", names[k], NULL, &out)) value_release(m, out);
            else {
                ck_assert(m->error != NULL);
                diag_free(m->error);
                m->error = NULL;
            }
        }
    }
    value_release(m, v);
    close_vm();
}
END_TEST

static void reads(const char *s, const char *want)
{
    write_file("t.csv", s, strlen(s));
    looks(load("t.csv"), want);
}
static void bad_table(const char *s, const char *want)
{
    write_file("t.csv", s, strlen(s));
    load_fails("t.csv", want);
}

START_TEST(tables)
{
    open_vm();
    reads("1,2\n3,4\n", "[[1, 2],\n [3, 4]]");
    reads("1.5\r\n\r\n -2e1 \r\n", "[[  1.5],\n [-20]]");
    reads("\xef\xbb\xbfx,name,ok\n1,a,true\n,\"b, \"\"c\"\"\nd\",False\n",
          "{x: [1, nan], name: (\"a\", \"b, \\\"c\\\"\\nd\"), ok: [true, false]}");
    reads("x,id\n1,9007199254740993\n2,3", "{x: [1, 2], id: [9007199254740993, 3]}");
    reads("a,b\n", "{a: [], b: []}");
    reads(",b\n0,NA\n", "{column0: [0], b: [nan]}");
    reads("code\n007\nab\n", "{code: (\"007\", \"ab\")}");
    write_file("t.tsv", "a\tb\n1\t2, 3\n", 11);
    looks(load("t.tsv"), "{a: [1], b: (\"2, 3\",)}");
    bad_table("", "load(): t.csv: there is nothing in it");
    bad_table("1,2\n3\n", "load(): t.csv: line 2 has 1 field, and the first row has 2");
    bad_table("1,2\n3,x\n",
              "load(): t.csv: line 2, field 2: \"x\" is not a number, and the table has no header that would name text columns");
    bad_table("a\n\"b\n", "load(): t.csv: line 2: a quote that is never closed");
    bad_table("a,a\n1,2\n", "load(): t.csv: two columns have the name \"a\"");
    bad_table("a\n\xff\n", "load(): t.csv: it is not UTF-8 text");
    /* What is saved comes back. */
    value v = ramp(DTYPE_F64, 2, (int64_t[]){3, 2}), w;
    save("m.csv", v);
    w = load("m.csv");
    ck_assert(value_same(v, w));
    value_release(m, v), value_release(m, w);
    const char *s = "x,s,b\n0.1,\"1\",true\n-3,\" a\",false\n1e300,\"\",true\n";
    write_file("t.csv", s, strlen(s));
    v = load("t.csv");
    save("u.csv", v);
    w = load("u.csv");
    ck_assert(value_same(v, w));
    value_release(m, w);
    value out, deep = ramp(DTYPE_F64, 3, (int64_t[]){1, 1, 1});
    ck_assert(!apply("save", "u.csv", &deep, &out));
    failed_with("save(): u.csv: a table has two axes, and value has 3; reshape it");
    w = load("u.csv"); /* the old file is still there */
    ck_assert(value_same(v, w));
    value_release(m, v), value_release(m, w), value_release(m, deep);
    ck_assert(!apply("save", "no/where.csv", &(value){.tag = V_NONE}, &out));
    failed_with("save(): no/where.csv: cannot be written: No such file or directory");
    close_vm();
}
END_TEST

START_TEST(idx)
{
    open_vm();
    static const char images[] = "\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\1\0\1\xfe\xff";
    write_file("train-images-idx3-ubyte", images, sizeof images - 1);
    looks(load("train-images-idx3-ubyte"), "[[[  0],\n  [  1]],\n\n [[254],\n  [255]]]");
    gzFile z = gzopen(in_folder("t10k-images-idx3-ubyte.gz"), "wb");
    gzwrite(z, images, sizeof images - 1);
    gzclose(z);
    looks(load("t10k-images-idx3-ubyte.gz"), "[[[  0],\n  [  1]],\n\n [[254],\n  [255]]]");
    ck_assert(truncate(in_folder("t10k-images-idx3-ubyte.gz"), 20) == 0);
    value out;
    ck_assert(!apply("load", "t10k-images-idx3-ubyte.gz", NULL, &out));
    ck_assert(m->error && strstr(m->error->message, "cut off"));
    diag_free(m->error);
    m->error = NULL;
    write_file("a.idx", "\0\0\x08\1\xff\xff\xff\xff\1", 9);
    load_fails("a.idx", "load(): a.idx: the shape says 4294967295 bytes follow, and there are 1");
    for (int d = DTYPE_I64; d <= DTYPE_F64; d++) {
        value v = ramp((dtype)d, 2, (int64_t[]){20, 30}), w;
        save("b.idx", v);
        w = load("b.idx");
        ck_assert(value_same(v, w));
        value_release(m, v), value_release(m, w);
    }
    close_vm();
}
END_TEST

START_TEST(text_and_the_world)
{
    open_vm();
    value s = str("héllo\n"), out;
    ck_assert(apply("write_text", "a.txt", &s, &out));
    ck_assert(apply("read_text", "a.txt", NULL, &out));
    ck_assert(value_same(s, out));
    value_release(m, s), value_release(m, out);
    write_file("a.txt", "a\xff", 2);
    ck_assert(!apply("read_text", "a.txt", NULL, &out));
    failed_with("read_text(): a.txt: it is not UTF-8 text: byte 1 is ff");
    ck_assert(apply("exists", "a.txt", NULL, &out) && out.u.i == 1);
    ck_assert(apply("exists", "b.txt", NULL, &out) && out.u.i == 0);
    /* Muted, nothing is written; a device is written to, not replaced. */
    m->mute = 1;
    s = str("x");
    ck_assert(apply("write_text", "c.txt", &s, &out));
    m->mute = 0;
    ck_assert(apply("exists", "c.txt", NULL, &out) && out.u.i == 0);
    value args[2] = {str("/dev/null"), s};
    ck_assert(prim_apply(m, prim_named("write_text"), args, 2, 0, &out));
    struct stat st;
    ck_assert(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    value_release(m, args[0]), value_release(m, s);
    close_vm();
}
END_TEST

/* Every kind of part. */
static value sample(void)
{
    value a = ramp(DTYPE_F32, 2, (int64_t[]){2, 3}), b = ramp(DTYPE_BOOL, 1, (int64_t[]){3});
    record *r = record_new(m, 0, 4);
    value of = value_object(&r->h);
    const char *names[] = {"a", "b", "c", "d", "e", "f", "g", "é"};
    value parts[] = {
        a, b, value_retain(a), value_weak(3, WEAK_WHOLE), value_weak(0.5, WEAK_FLOAT), value_i64(-2), str("héllo"), value_f32(1.5f)};
    for (int i = 0; i < 8; i++) ck_assert(record_set(m, &of, symbol_of(m->symbols, names[i], strlen(names[i])), parts[i]));
    tuple *t = tuple_new(m, 4, 4);
    t->v[0] = of, t->v[1] = value_none(), t->v[2] = value_bool(true), t->v[3] = value_retain(of);
    return value_object(&t->h);
}

START_TEST(state_that_is_damaged)
{
    open_vm();
    value v = sample(), out;
    m->random = (random_state){3, 14};
    ck_assert(apply("save_state", "a", &v, &out));
    m->random = (random_state){0, 0};
    out = load("a");
    ck_assert(value_same(v, out) && m->random.key == 3 && m->random.counter == 14);
    /* What two places shared they share again. */
    ck_assert(as_tuple(out)->v[0].u.o == as_tuple(out)->v[3].u.o);
    value_release(m, out), value_release(m, v);
    uint8_t s[1000];
    FILE *f = fopen(in_folder("a"), "rb");
    size_t n = fread(s, 1, sizeof s, f);
    fclose(f);
    ck_assert_uint_lt(n, sizeof s);
    m->random = (random_state){1, 2};
    /* Cut off anywhere, a bit turned anywhere, a byte too much: an error that says where, and nothing has changed. */
    for (size_t i = 0; i <= n * 9; i++) {
        uint8_t damaged[1001];
        memcpy(damaged, s, n);
        size_t length = i < n ? i : i == n ? n + 1 : n;
        if (i > n) damaged[(i - n - 1) / 8] ^= (uint8_t)(1 << (i - n - 1) % 8);
        damaged[n] = 0;
        write_file("b.state", damaged, length);
        ck_assert_msg(!apply("load", "b.state", NULL, &out), "case %zu of %zu loads", i, n);
        ck_assert_ptr_nonnull(strstr(m->error->message, "b.state: "));
        ck_assert(m->error->code == DIAG_FILE || m->error->code == DIAG_MEMORY);
        diag_free(m->error);
        m->error = NULL;
        ck_assert(m->random.key == 1 && m->random.counter == 2);
    }
    s[8] = 2;
    write_file("b", s, n);
    load_fails("b", "load(): b: it has version 2 of the format, and 1 can be read");
    close_vm();
}
END_TEST

UNIT_MAIN("io", npy_comes_back, abandoned_files_go, npy_of_others, damage_is_an_error, tables, idx, text_and_the_world,
          state_that_is_damaged)
