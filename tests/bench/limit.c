/* limit.c THREADS: the multiply-add limit of this processor in f32, in GFLOP/s: independent chains of fused
 * multiply-adds in registers, the widest vectors, on THREADS threads at once. The best of some tries. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__AVX512F__)
enum { WIDTH = 64 };
#else
enum { WIDTH = 32 };
#endif
typedef float vector __attribute__((vector_size(WIDTH)));
enum { CHAINS = 12, TIMES = 4000000 };

static float chains(void)
{
    vector a[CHAINS], x, y;
    for (int j = 0; j < WIDTH / 4; j++) x[j] = 0.999999f, y[j] = 1e-6f * (float)j;
    for (int k = 0; k < CHAINS; k++) a[k] = y + (float)k;
    for (long i = 0; i < TIMES; i++)
#pragma GCC unroll 12
        for (int k = 0; k < CHAINS; k++) a[k] = a[k] * x + y;
    float sum = 0;
    for (int k = 0; k < CHAINS; k++)
        for (int j = 0; j < WIDTH / 4; j++) sum += a[k][j];
    return sum;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    double best = 0;
    volatile float used = 0;
    for (int t = 0; t < 7; t++) {
        double start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
        {
            float s = chains();
#pragma omp critical
            used += s;
        }
        double speed = 2.0 * CHAINS * (WIDTH / 4) * TIMES * threads / (omp_get_wtime() - start) / 1e9;
        if (speed > best) best = speed;
    }
    printf("%.1f\n", best);
    return 0;
}
