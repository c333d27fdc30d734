/* test_schedule.c: plans against brute force, the tables they must give, and the sizes they must stand. */
#include "unit.h"
#include "schedule.h"

enum { L = 1000, S = 60 };
static uint32_t runs[L + 1][S + 1], writes[L + 1][S + 1];

/* t(l, s) and, of the splits that attain it, the fewest states written (the initial one not counted),
   straight from the recurrence. */
static void recurrence(void)
{
    for (uint32_t s = 1; s <= S; s++)
        for (uint32_t l = 2; l <= L; l++) {
            uint32_t best = UINT32_MAX, least = UINT32_MAX;
            for (uint32_t m = s == 1 ? l - 1 : 1; m < l; m++) {
                uint32_t c = m + runs[m][s] + (s == 1 ? 0 : runs[l - m][s - 1]);
                if (c > best) continue;
                uint32_t w = (l - m > 1) + writes[m][s] + (s == 1 ? 0 : writes[l - m][s - 1]);
                if (c < best || w < least) best = c, least = w;
            }
            runs[l][s] = best;
            writes[l][s] = least;
        }
}

START_TEST(known_closed_form_and_splits)
{
    recurrence();
    for (uint32_t s = 1; s <= S; s++)
        for (uint32_t l = 0; l <= L; l++) {
            ck_assert_uint_eq(schedule_runs(l, s), runs[l][s]);
            if (l < 2) continue;
            uint64_t m = schedule_split(l, s);
            ck_assert(m >= 1 && m < l && (s > 1 || m == l - 1));
            uint32_t right = s == 1 ? 0 : runs[l - m][s - 1], w = s == 1 ? 0 : writes[l - m][s - 1];
            ck_assert_uint_eq(m + runs[m][s] + right, runs[l][s]);
            ck_assert_uint_eq((l - m > 1) + writes[m][s] + w, writes[l][s]);
        }
}
END_TEST

START_TEST(known_table)
{
    static const uint64_t rows[][4] = {{10, 1, 45, 1},    {10, 3, 15, 6},      {50, 7, 105, 28},
                                       {100, 5, 316, 44}, {250, 10, 672, 184}, {1000, 10, 3636, 714}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ck_assert_uint_eq(schedule_runs(rows[k][0], rows[k][1]), rows[k][2]);
        ck_assert_uint_eq(writes[rows[k][0]][rows[k][1]] + 1, rows[k][3]);
    }
    ck_assert_uint_eq(schedule_runs(1000000, 20), 6815960);
}
END_TEST

/* A descent to the last step of a range of any length: each decision from binomials alone. */
START_TEST(known_any_length)
{
    for (uint64_t l = 1; l <= 1000000000; l = l * 10 + 3)
        for (uint64_t s = 1; s <= 2000; s = s * 3 / 2 + 1) {
            uint64_t n = l, left = s;
            while (n > 1) {
                uint64_t m = schedule_split(n, left), right = left > 1 ? schedule_runs(n - m, left - 1) : 0;
                ck_assert(m >= 1 && m < n);
                ck_assert_uint_eq(m + schedule_runs(m, left) + right, schedule_runs(n, left));
                n -= m;
                if (left == 1) break;
                left--;
            }
        }
    ck_assert_uint_eq(schedule_runs(1000000000, 1), 499999999500000000u);
    ck_assert_uint_eq(schedule_runs(UINT64_MAX / 2, 1), UINT64_MAX);
    ck_assert_uint_eq(schedule_binomial(100, 50), UINT64_MAX);
    ck_assert_uint_eq(schedule_binomial(60, 30), 118264581564861424u);
    ck_assert_uint_eq(schedule_binomial(3, 5), 0);
}
END_TEST

/* Executions in all of a loop that ends after l steps, of which the states before the first l - 1 were
   offered: forward, recorded, and t of every range, the last one without its last step, whose state is
   still at hand. */
static uint64_t executed(const online *o, uint64_t l)
{
    uint64_t sum = 2 * l;
    for (uint64_t j = 0; j < o->n; j++) {
        uint64_t end = j + 1 < o->n ? o->at[j + 1] : l - 1;
        sum += schedule_runs(end - o->at[j], o->s - j);
    }
    return sum;
}

START_TEST(unknown_length)
{
    static const double worst[] = {0, 1.000, 1.108, 1.061, 1.055, 1.041, 1.035, 1.032, 1.040};
    static const uint64_t most[][3] = {{14, 4, 37}, {100, 3, 618}, {100, 10, 324}, {500, 10, 2137}, {1000, 10, 4739}};
    memory m;
    ck_assert(memory_open(&m));
    for (uint64_t s = 1; s <= 20; s++) {
        online o;
        online_open(&o, &m, s);
        double ratio = 0;
        for (uint64_t l = 1; l <= 2000; l++) {
            uint64_t total = executed(&o, l), least = schedule_runs(l, s) + l + 1;
            ck_assert(total >= least);
            if ((double)total / (double)least > ratio) ratio = (double)total / (double)least;
            for (size_t k = 0; k < sizeof most / sizeof *most; k++)
                if (most[k][0] == l && most[k][1] == s) ck_assert_uint_le(total, most[k][2]);
            uint64_t which = 0;
            ck_assert(online_offer(&o, l - 1, &which) != ONLINE_REFUSED);
            ck_assert(o.n <= s && o.at[0] == 0 && o.at[o.n - 1] <= l - 1);
            for (uint64_t j = 1; j < o.n; j++) ck_assert(o.at[j] > o.at[j - 1]);
        }
        ck_assert_msg(ratio <= (s <= 8 ? worst[s] : 1.041), "s = %d: %.4f", (int)s, ratio);
        online_close(&o);
    }
    ck_assert_uint_eq(m.live_all, 0);
    memory_close(&m);
}
END_TEST

static bool refused_body(memory *m)
{
    online o;
    online_open(&o, m, 40);
    bool fine = true;
    for (uint64_t at = 0; at < 200 && fine; at++) {
        uint64_t which;
        fine = online_offer(&o, at, &which) != ONLINE_REFUSED;
    }
    online_close(&o);
    return fine;
}
START_TEST(refused) { unit_fail_each(refused_body); }
END_TEST

UNIT_MAIN("schedule", known_closed_form_and_splits, known_table, known_any_length, unknown_length, refused)
