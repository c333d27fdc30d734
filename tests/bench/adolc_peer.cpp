/* adolc_peer METHOD STEPS: scalar.rl in ADOL-C ("adolc": taped and reversed each time, buffers large enough for the
 * tape to stay in memory) and by hand in C++ ("hand"); one line as measure.rl's. */
#include <adolc/adolc.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <vector>

static const double DT = 1e-3;
static const int LENGTH = 10000;

static double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

/* A field of /proc/self/status in MiB. VmHWM, not ru_maxrss, which remembers the process that started this one. */
static double resident(const char *what)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, what, strlen(what))) sscanf(line + strlen(what), ": %lf", &kib);
    if (f) fclose(f);
    return kib / 1024;
}

/* x: angle, angular velocity, damping */
template <class T> static inline void step(T *x)
{
    x[1] = x[1] - (sin(x[0]) + x[2] * x[1]) * DT;
    x[0] = x[0] + x[1] * DT;
}

static double by_hand(double *g)
{
    static std::vector<double> th(LENGTH), om(LENGTH);
    double x[3] = {1.0, 0.0, 0.01};
    for (int i = 0; i < LENGTH; i++) {
        th[i] = x[0];
        om[i] = x[1];
        step(x);
    }
    double gth = 2 * x[0], gom = 0, gc = 0;
    for (int i = LENGTH - 1; i >= 0; i--) {
        gom += gth * DT;
        double k = -gom * DT;
        gth += k * std::cos(th[i]);
        gc += k * om[i];
        gom += k * x[2];
    }
    g[0] = gth, g[1] = gom, g[2] = gc;
    return x[0] * x[0];
}

static double by_tape(double *g)
{
    const double init[3] = {1.0, 0.0, 0.01};
    const unsigned buffer = 1u << 24;
    double loss, one = 1;
    trace_on(1, 1, buffer, buffer, buffer, buffer);
    {
        adouble x[3], out;
        for (int i = 0; i < 3; i++) x[i] <<= init[i];
        for (int i = 0; i < LENGTH; i++) step(x);
        out = x[0] * x[0];
        out >>= loss;
    }
    trace_off();
    reverse(1, 1, 3, 0, &one, g);
    return loss;
}

int main(int argc, char **argv)
{
    bool hand = argc > 1 && !strcmp(argv[1], "hand");
    int steps = argc > 2 ? atoi(argv[2]) : 5;
    double before = resident("VmRSS"), g[3], loss = 0;
    std::vector<double> t;
    for (int k = 0; k <= steps; k++) {
        double start = now();
        loss = hand ? by_hand(g) : by_tape(g);
        t.push_back(now() - start);
    }
    double first = t[0];
    if (t.size() > 1) t.erase(t.begin());
    std::sort(t.begin(), t.end());
    printf("scalar first_ms %.3f median_ms %.3f loss %.9e gradient %.9e grown %.1f live 0\n", first, t[t.size() / 2], loss,
           std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), resident("VmHWM") - before);
}
