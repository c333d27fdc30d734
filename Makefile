# Makefile: builds Replay, runs it, tests it. `make help` lists what there is.
# Everything generated goes below $(BUILD); nothing generated is committed.

# No built-in rules: one of them would make lang/parse.c of lang/parse.y.
MAKEFLAGS += --no-builtin-rules

BUILD   ?= build
CC      ?= gcc
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

# What Debian provides; `make deps` installs what is missing.
DEPS := gcc make re2c lemon pkg-config libblis-serial-dev libsleef-dev liblapack-dev liblapacke-dev libedit-dev \
        libcjson-dev libpng-dev libzip-dev zlib1g-dev check

# Installs what is missing of some packages, with fresh lists.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
need  = missing=; for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	    echo "installing$$missing"; \
	    $(SUDO) apt-get update -q && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi

# dpkg knows the machine before a compiler is installed.
ARCH      := $(shell dpkg --print-architecture 2>/dev/null)
MULTIARCH := $(if $(filter arm64,$(ARCH)),aarch64-linux-gnu,x86_64-linux-gnu)
BLIS_INC  := /usr/include/$(MULTIARCH)/blis-serial
BLIS_LIB  := /usr/lib/$(MULTIARCH)/blis-serial/libblis.a

OPT      ?= -O2
# Empty for the thread sanitizer, which cannot see into it.
OPENMP   ?= -fopenmp
# Short copies by plain moves: gcc's own choice, `rep movs`, takes tens of cycles to start, and shapes are short.
COPIES   := -mmemcpy-strategy=unrolled_loop:128:noalign,libcall:-1:noalign -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign
COPIES   := $(shell $(CC) -Werror $(COPIES) -E -x c /dev/null >/dev/null 2>&1 && echo '$(COPIES)')
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CFLAGS   ?=
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -g $(OPT) -ffp-contract=off -fno-math-errno $(COPIES) $(OPENMP) -fPIC -fvisibility=hidden \
              $(WARN) -I. -iquote vm -iquote lang -iquote $(BUILD) -isystem $(BLIS_INC) -DREPLAY_VERSION='"$(VERSION)"' $(CFLAGS)
# LAPACK is linked as an archive, over BLIS: the shared one may be any implementation, with other bits, and
# one of them starts threads as it is loaded. Its Fortran library has no development package that is needed.
LAPACK   := /usr/lib/$(MULTIARCH)/liblapacke.a /usr/lib/$(MULTIARCH)/lapack/liblapack.a $(BLIS_LIB) -l:libgfortran.so.5
LIBS     := $(LAPACK) -lsleef -ledit -lcjson -lpng -lzip -lz -lm -fopenmp

VM_SRC    := $(wildcard vm/*.c)
LANG_SRC  := $(filter-out lang/main.c,$(wildcard lang/*.c))
GEN_SRC   := $(BUILD)/lex.c $(BUILD)/parse_tables.c $(BUILD)/stdlib.c
LIB_OBJ   := $(VM_SRC:%.c=$(BUILD)/%.o) $(LANG_SRC:%.c=$(BUILD)/%.o) $(GEN_SRC:.c=.o)
UNIT_SRC  := $(wildcard tests/unit/test_*.c)
UNIT_BIN  := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

.PHONY: all deps run test command budgets yardstick unit table examples repl views spec golden random cases embed limits starve faults fuzz clang valgrind coverage asan tsan check format flags bench bench-more install clean help
all: $(BUILD)/replay

help:
	@echo "make deps      install what is missing from Debian"
	@echo "make           build $(BUILD)/replay"
	@echo "make run       build and run the main example"
	@echo "make test      build and pass the tests"
	@echo "make flags     the same under each switch of the engine"
	@echo "make bench     against PyTorch, JAX and ADOL-C, which it installs"
	@echo "make asan      the tests under the address and undefined-behaviour sanitizers"
	@echo "make clang     built by clang, warnings as errors; unit tests and cases"
	@echo "make valgrind  the unit tests under valgrind"
	@echo "make coverage  the lines that the tests run"
	@echo "make fuzz      fuzzers, each for FUZZ_SECONDS (60), FUZZ_JOBS (1) at a time; see tests/fuzz"
	@echo "make tsan      the embedding library under the thread sanitizer"
	@echo "make check     warnings as errors, and static analysis"
	@echo "make format    lay the C code out"
	@echo "make install   below PREFIX ($(PREFIX)), honouring DESTDIR"

include $(wildcard $(LIB_OBJ:.o=.d) $(BUILD)/lang/main.d)

# The command has libgomp within itself, so that main.c can speak to it before it reads its environment.
LIBGOMP = $(wildcard $(shell $(CC) -print-file-name=libgomp.a))
$(BUILD)/replay: $(BUILD)/lang/main.o $(BUILD)/libreplay.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(LIBGOMP) $(LIBS)

$(BUILD)/libreplay.a: $(LIB_OBJ)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: $(BUILD)/%.c
	$(CC) $(ALL_CFLAGS) -w $(GENERATED) -MMD -MP -c -o $@ $<

# How clang passes vectors to SLEEF is decided for a whole file, not by a function's attribute.
ifneq ($(findstring clang,$(CC)),)
# It warns of loops that it does not make vectors of, as gcc does not.
ALL_CFLAGS += -Wno-pass-failed
$(BUILD)/vm/kern_tile_avx2.o: ALL_CFLAGS += -mavx2 -mfma
$(BUILD)/vm/kern_tile_avx512.o: ALL_CFLAGS += -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
$(BUILD)/vm/random.o: ALL_CFLAGS += -mavx
endif

$(BUILD)/lex.c: lang/lex.re lang/unicode.re
	@mkdir -p $(@D)
	re2c -W --no-generation-date -8 -i -o $@ $<
# Lemon writes parse_tables.c and its token numbers, parse_tables.h.
$(BUILD)/parse_tables.c: lang/parse.y
	@mkdir -p $(@D)
	cp $< $(BUILD)/parse_tables.y && lemon -q -T/usr/share/lemon/lempar.c $(BUILD)/parse_tables.y
$(BUILD)/parse_tables.h: $(BUILD)/parse_tables.c
$(LIB_OBJ): | $(BUILD)/parse_tables.c

# For the fuzzers: clang takes minutes for a lexer full of checks; and the numbers that files are compared with help.
GENERATED ?=
READERS   ?=
$(BUILD)/vm/io%.o: ALL_CFLAGS += $(READERS)
# The modules of stdlib/ travel inside the program.
$(BUILD)/stdlib.c: $(wildcard stdlib/*.rl) stdlib/embed.sh
	@mkdir -p $(@D)
	sh stdlib/embed.sh stdlib/*.rl > $@

# It counts what BLIS asks of libc.
$(BUILD)/unit/test_blas: override LDFLAGS += -Wl,--wrap=malloc
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libreplay.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libreplay.a $$(pkg-config --cflags --libs check) $(LIBS)

# --- tests ------------------------------------------------------------------------------------
# Each prints a line of what passed; any failure stops make.
# Everything is built first, on all cores; then the parts run one after another.
JOBS := $(shell nproc)
PARTS := unit table cases command budgets numpy spec golden examples repl views embed limits starve faults random
test:
	$(MAKE) -j$(JOBS) $(BUILD)/replay $(UNIT_BIN) $(BUILD)/table $(BUILD)/random
	@for part in $(PARTS); do $(MAKE) --no-print-directory $$part || exit 1; done
unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do $$t || exit 1; done

# Every row of the table of primitives: examples, shapes, dtypes, derivatives, representations. TABLE_ROWS=: some.
table: $(BUILD)/table
	$(BUILD)/table $(TABLE_ROWS)
$(BUILD)/table: $(wildcard tests/table/*.[ch] tests/table/*.def) $(BUILD)/libreplay.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(wildcard tests/table/*.c) $(BUILD)/libreplay.a $(LIBS)

# Results of NumPy and gradients of PyTorch: those stored by tests/numpy/generate.py, and those of what is installed.
numpy: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/numpy/run.sh

# Scripts with what they must print, or how they must fail, in their comments.
cases: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/run_cases.sh

# The command line: options, subcommands, statuses.
command: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/command/run.sh

# Programs under budgets from their peak down: BUDGETS= how many.
budgets: $(BUILD)/replay
	REPLAY=$(BUILD)/replay BUDGETS=$${BUDGETS:-8} tests/run_budgets.sh

# Budgets beside a search through all schedules of small chains: CHAINS=, STEPS=, SEED=.
yardstick: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/run_yardstick.sh

# The examples print what their comments say.
examples: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/run_examples.sh

# The REPL on a pseudo-terminal; its screens are stored.
repl: $(BUILD)/replay $(BUILD)/repl
# A screen that waited in vain is tried again, up to three times: keys sent to a terminal can come before their reader does.
	@for f in tests/repl/*.keys; do n=0; \
	    until REPLAY=$(BUILD)/replay $(BUILD)/repl $$f; do n=$$((n + 1)); [ $$n -lt 3 ] || exit 1; done; done
$(BUILD)/repl: tests/repl/main.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lutil

# Pictures of differentiation: made for three programs, their figures compared with those of a run.
views: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/views/run.sh

# SPEC.md: its examples, and its generated sections.
spec: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/spec/run.sh
	REPLAY=$(BUILD)/replay tests/spec/run.sh README.md

# Listings of adjoint programs.
golden: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/golden/run.sh

# Random programs, with and without their blocks: RANDOM_SEED=, RANDOM_COUNT=, RANDOM_JOBS=. The linker hands
# memory_close to the runner, which looks at the books before they go.
random: $(BUILD)/random
	$(BUILD)/random
$(BUILD)/random: $(wildcard tests/random/*.[ch]) $(BUILD)/libreplay.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--wrap=memory_close -o $@ $(wildcard tests/random/*.c) $(BUILD)/libreplay.a $(LIBS)

# Allocations refused, one at a time: STARVE_COUNT= of them for each text, and one for each place that asks for memory;
# of the examples of builtins, too.
STARVE_COUNT ?= 10
STARVE_CALLS := calloc memory_close memory_alloc memory_array_alloc memory_resize arena_alloc arena_text
STARVE_TEXTS := $(wildcard tests/golden/*.rl tests/cases/lang/*.rl tests/cases/stdlib/*.rl tests/cases/*.rl) $(addprefix examples/,newton.rl linreg.rl ode.rl recursion.rl)
starve: $(BUILD)/starve $(BUILD)/replay
	@$(BUILD)/replay spec | awk '/^```/ { inside = !inside; next } inside { sub(/  #.*/, ""); print }' >$(BUILD)/starve.txt
	STARVE_COUNT=$(STARVE_COUNT) $(BUILD)/starve @$(BUILD)/starve.txt $(filter-out %long.rl %memory.rl %mlp.rl,$(STARVE_TEXTS))
$(BUILD)/starve: $(wildcard tests/starve/*.c) $(BUILD)/libreplay.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(STARVE_CALLS:%=-Wl,--wrap=%) -o $@ $(wildcard tests/starve/*.c) $(BUILD)/libreplay.a $(LIBS)

# Operations on files that fail, every one in turn and in every way.
FAULT_CALLS := open read pread write fsync close rename fstat stat fopen fread memory_close
faults: $(BUILD)/faults
	$(BUILD)/faults $(wildcard tests/faults/*.rl)
$(BUILD)/faults: $(wildcard tests/faults/*.c) $(BUILD)/libreplay.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(FAULT_CALLS:%=-Wl,--wrap=%) -o $@ $(wildcard tests/faults/*.c) $(BUILD)/libreplay.a $(LIBS)

# What strangers' scripts may try, and signals.
limits: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/limits/run.sh

# The library, installed, by two programs that know nothing of this tree. The programs get CFLAGS,
# for they need the sanitizers that the library has.
embed: $(BUILD)/stage/lib/libreplay.so
	STAGE=$(abspath $(BUILD)/stage) CC="$(CC)" CFLAGS="$(CFLAGS)" tests/embed/run.sh
$(BUILD)/stage/lib/libreplay.so: $(BUILD)/replay $(BUILD)/lib/libreplay.so $(BUILD)/lib/libreplay.a
	$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(abspath $(BUILD)/stage)

# The library under the thread sanitizer, a VM on each of several threads.
tsan:
	$(MAKE) embed BUILD=$(BUILD)/tsan OPENMP= OPT=-O1 CFLAGS="-fsanitize=thread"

# The cases and examples under each switch of the engine, and on one and two threads: the same to the last bit.
flags: $(BUILD)/replay
	REPLAY=$(BUILD)/replay tests/run_flags.sh

# Against PyTorch, ADOL-C (Debian's) and JAX (PyPI's, in a virtual environment). BENCH=: options and workloads of run.py.
BENCH_DEPS := python3-torch python3-venv libopenblas0-openmp libadolc-dev
bench: $(BUILD)/replay
	@$(call need,$(BENCH_DEPS))
	@mkdir -p $(BUILD)/bench
	[ -x $(BUILD)/bench/jax/bin/python ] || { python3 -m venv $(BUILD)/bench/jax && $(BUILD)/bench/jax/bin/pip install -q 'jax[cpu]'; }
	g++ -O2 -march=x86-64-v3 -o $(BUILD)/bench/adolc tests/bench/adolc_peer.cpp -ladolc
	$(CC) -O2 -shared -fPIC -fno-builtin -o $(BUILD)/bench/memtrack.so tests/bench/memtrack.c
	$(CC) -O2 -march=native -fopenmp -o $(BUILD)/bench/limit tests/bench/limit.c
	REPLAY=$(BUILD)/replay LIMIT=$(BUILD)/bench/limit LD_LIBRARY_PATH=/usr/lib/$(MULTIARCH)/openblas-openmp JAX_PYTHON=$(BUILD)/bench/jax/bin/python \
	    ADOLC=$(BUILD)/bench/adolc MEMTRACK=$(abspath $(BUILD)/bench/memtrack.so) python3 tests/bench/run.py $(BENCH)
# Replay against itself: the price of a checkpoint, growth, threads.
bench-more: $(BUILD)/replay
	REPLAY=$(BUILD)/replay python3 tests/bench/more.py $(BENCH)

# Fuzzing with libFuzzer, for which clang is needed (Debian's, which it installs): FUZZ_SECONDS= for each of FUZZ=,
# FUZZ_JOBS= of them at a time, each with a log in $(BUILD)/fuzz. OpenMP is off and its header is a stub. `program`, which
# runs whole programs several times, is built without the address sanitizer; its allocator checks blocks itself.
FUZZ_SECONDS ?= 60
FUZZ_JOBS    ?= 1
FUZZ ?= text file code program
FUZZ_CHECKS         := -fsanitize-coverage=inline-8bit-counters,pc-table -fsanitize=undefined -fno-sanitize=function -isystem $(BUILD)/fuzz/include -w
fuzz-plain-FLAGS    := -O1 $(FUZZ_CHECKS) -fsanitize=address -D__SANITIZE_ADDRESS__
fuzz-program-FLAGS  := -O2 $(FUZZ_CHECKS) -DREPLAY_CHECK_MEMORY
fuzz-lib             = $(if $(filter program,$(1)),fuzz-program,fuzz-plain)
fuzz-program-SOURCES = $(wildcard tests/random/gen*.c) tests/random/trial.c
FUZZ_LINK           := -Wl,--wrap=memory_close
fuzz-text-SOURCES    = tests/fuzz/tokens.c
fuzz-text-RUN        = -dict=$(BUILD)/fuzz/text.dict
.PHONY: fuzz-built $(FUZZ:%=fuzz-run-%)
fuzz: fuzz-built
	@$(MAKE) --no-print-directory -k -j$(FUZZ_JOBS) $(FUZZ:%=fuzz-run-%)
fuzz-built:
	@$(call need,clang libclang-rt-14-dev)
	@mkdir -p $(BUILD)/fuzz/include $(FUZZ:%=$(BUILD)/fuzz/%)
	@printf 'int omp_get_num_procs(void);\nint omp_get_thread_num(void);\n' >$(BUILD)/fuzz/include/omp.h
	$(MAKE) -j$(JOBS) $(FUZZ:%=$(BUILD)/fuzz/%.fuzzer)
	@tests/fuzz/seeds.sh $(BUILD)/fuzz $(FUZZ)
fuzz-plain fuzz-program:
	$(MAKE) BUILD=$(BUILD)/$@ CC=clang OPENMP= OPT= CFLAGS="$($@-FLAGS)" GENERATED="-O1 -fno-sanitize=undefined" READERS=-fsanitize-coverage=trace-cmp $(BUILD)/$@/libreplay.a
.PHONY: fuzz-plain fuzz-program
.SECONDEXPANSION:
$(BUILD)/fuzz/%.fuzzer: tests/fuzz/%.c $$(fuzz-$$*-SOURCES) $$(call fuzz-lib,$$*)
	clang $(filter-out -fopenmp $(COPIES) $(OPT),$(ALL_CFLAGS)) $($(call fuzz-lib,$*)-FLAGS) -fsanitize=fuzzer -Ilang \
	    -iquote $(BUILD)/$(call fuzz-lib,$*) $(if $(filter-out file,$*),$(FUZZ_LINK)) $(filter %.c,$^) -o $@ $(BUILD)/$(call fuzz-lib,$*)/libreplay.a \
	    $(filter-out -fopenmp,$(LIBS)) -l:libgomp.so.1
$(FUZZ:%=fuzz-run-%): fuzz-run-%:
	@$(BUILD)/fuzz/$*.fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2500 -max_len=3000 -print_final_stats=1 \
	    -entropic=0 $(if $(filter-out file,$*),-detect_leaks=0) $(fuzz-$*-RUN) -artifact_prefix=$(BUILD)/fuzz/$*- $(BUILD)/fuzz/$* $(wildcard tests/fuzz/corpus/$*) >$(BUILD)/fuzz/$*.log 2>&1; \
	    tests/fuzz/report.sh $* $$? $(BUILD)/fuzz/$*.log

# Everything built by clang too, warnings as errors, with its own OpenMP; and the unit tests and cases under it.
clang:
	@$(call need,clang libomp-dev)
	$(MAKE) -j$(JOBS) BUILD=$(BUILD)/clang CC=clang CFLAGS=-Werror all $(UNIT_BIN:$(BUILD)/%=$(BUILD)/clang/%)
	@for part in unit cases; do $(MAKE) --no-print-directory BUILD=$(BUILD)/clang CC=clang CFLAGS=-Werror $$part || exit 1; done

# Lines of vm and lang that the tests run, by gcc's gcov, the least covered files last: COVERAGE_PARTS= which tests. Less
# than COVERAGE_LEAST per cent fail. The examples take long, and run nothing that the rest does not.
COVERAGE_PARTS ?= $(filter-out examples,$(PARTS))
COVERAGE_LEAST ?= 90
COVERAGE_ENDS := $(BUILD)/coverage/tests/coverage/ends.o
COVERAGE := BUILD=$(BUILD)/coverage OPT=-O1 CFLAGS=--coverage RANDOM_COUNT=100 BUDGETS=4 STARVE_COUNT=1 LIMITS_TIME=200 CASE_TIMEOUT=300 \
            LDFLAGS="-Wl,--wrap=_exit -Wl,--wrap=abort -Wl,--wrap=raise $(COVERAGE_ENDS)"
coverage:
	$(MAKE) BUILD=$(BUILD)/coverage OPT=-O1 $(COVERAGE_ENDS)
	$(MAKE) -j$(JOBS) $(COVERAGE) $(patsubst $(BUILD)/%,$(BUILD)/coverage/%,$(BUILD)/replay $(UNIT_BIN) $(BUILD)/table $(BUILD)/random)
	find $(BUILD)/coverage -name '*.gcda' -delete
	@for part in $(COVERAGE_PARTS); do $(MAKE) --no-print-directory $(COVERAGE) $$part || exit 1; done
	@find $(BUILD)/coverage/vm $(BUILD)/coverage/lang -name '*.gcda' -exec gcov -n {} + 2>/dev/null | COVERAGE_LEAST=$(COVERAGE_LEAST) tests/coverage/sum.sh

# The unit tests under valgrind, which it installs: any error and any leak fails.
VALGRIND := UNIT_QUICK=1 CK_TIMEOUT_MULTIPLIER=300 valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite,indirect,possible \
            --errors-for-leak-kinds=definite,indirect,possible --suppressions=tests/valgrind.supp
valgrind: $(UNIT_BIN)
	@$(call need,valgrind)
	@printf '%s\n' $(UNIT_BIN) | xargs -P$(JOBS) -I{} sh -c 'echo {}; $(VALGRIND) {} >{}.log 2>&1 || { cat {}.log; exit 255; }'

# The whole suite again under the address and undefined-behaviour sanitizers; ASAN_PARTS=: some of it.
ASAN_PARTS ?= $(PARTS)
asan:
	CK_TIMEOUT_MULTIPLIER=30 CASE_TIMEOUT=600 LIMITS_TIME=300 $(MAKE) test PARTS="$(ASAN_PARTS)" BUILD=$(BUILD)/asan RANDOM_COUNT=200 STARVE_COUNT=3 OPT=-O1 CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

# --- people -----------------------------------------------------------------------------------
deps:
	@$(call need,$(DEPS))

run:
	@$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/replay
	$(BUILD)/replay examples/penguins.rl

C_FILES := $(wildcard lang/*.[ch] vm/*.[ch] vm/*.inc tests/*/*.[ch] examples/*.c)
format:
	@$(call need,clang-format)
	clang-format -i $(C_FILES)

# Warnings as errors, then cppcheck on what the compiler does not look for.
check:
	@$(call need,cppcheck)
	$(MAKE) $(BUILD)/check/replay BUILD=$(BUILD)/check CFLAGS=-Werror
	cppcheck --std=c11 --enable=warning,portability --inline-suppr --quiet --error-exitcode=1 \
	    --suppressions-list=.cppcheck -DREPLAY_VERSION='"$(VERSION)"' -Ivm -j 2 vm lang

# --- installation -----------------------------------------------------------------------------
# What programs that embed Replay link with: of all symbols only replay_* can be seen. Of the
# archive comes what these two objects need, so the command's own parts stay out.
PUBLIC := $(BUILD)/lang/api.o $(BUILD)/lang/api_value.o $(BUILD)/libreplay.a
$(BUILD)/lib/libreplay.a: $(PUBLIC)
	@mkdir -p $(@D)
	$(LD) -r -o $(BUILD)/lib/replay.o $(PUBLIC)
	objcopy -w --keep-global-symbol='replay_*' $(BUILD)/lib/replay.o
	rm -f $@ && ar rcs $@ $(BUILD)/lib/replay.o
SONAME := libreplay.so.0
$(BUILD)/lib/libreplay.so: $(PUBLIC)
	@mkdir -p $(@D)
	echo '{ global: replay_*; local: *; };' >$(BUILD)/lib/replay.map
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,--version-script,$(BUILD)/lib/replay.map -Wl,--as-needed -o $@ $(PUBLIC) $(LIBS)

define PC
prefix=$(PREFIX)
includedir=$${prefix}/include
libdir=$${prefix}/lib

Name: replay
Description: a small array language with differentiation and checkpointing
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lreplay
Libs.private: $(LIBS)
endef
export PC
install: $(BUILD)/replay $(BUILD)/lib/libreplay.a $(BUILD)/lib/libreplay.so
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 755 $(BUILD)/replay $(DESTDIR)$(PREFIX)/bin/replay
	install -m 644 lang/replay.h $(DESTDIR)$(PREFIX)/include/replay.h
	install -m 644 $(BUILD)/lib/libreplay.a $(DESTDIR)$(PREFIX)/lib/libreplay.a
	install -m 755 $(BUILD)/lib/libreplay.so $(DESTDIR)$(PREFIX)/lib/libreplay.so.$(VERSION)
	ln -sf libreplay.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libreplay.so
	echo "$$PC" >$(DESTDIR)$(PREFIX)/lib/pkgconfig/replay.pc

clean:
	rm -rf $(BUILD)
