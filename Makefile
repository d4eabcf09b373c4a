# ringscope: the recorder (NCCL profiler plugin), the empty plugin, and the command-line reader.
# `make help` lists targets and knobs. Plain `make` builds with what is there and installs nothing.

VERSION := 0.1.0

BUILD  ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,cc)
endif
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(Q),@printf '  %-5s %s\n' $(1) $(2))

# ---- sources ---------------------------------------------------------------------------------------------------------

FOLDERS    := $(shell sed -n 's/^\([a-z]*\) *|.*/\1/p' src/folders)
BELOW      := base nccl format
sources     = $(wildcard $(foreach f,$(1),src/$f/*.c src/$f/*/*.c))
BELOW_SRC  := $(call sources,$(BELOW))
READER_SRC := $(call sources,$(filter-out plugin,$(FOLDERS)))
PLUGIN_SRC := $(filter-out src/plugin/nop.c,$(call sources,plugin))
ALL_C      := $(wildcard src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] bench/*.[ch] examples/*.[ch])

# Without threads, in a build for ThreadSanitizer (PLAIN is the plain one): objects of that are as good.
THREADED   := $(BELOW) trace serve sim gen cli
PLAIN_SRC  := $(if $(PLAIN),$(call sources,$(filter-out plugin $(THREADED),$(FOLDERS))))

READER_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(PLAIN_SRC),$(READER_SRC))) $(PLAIN_SRC:%.c=$(PLAIN)/obj/%.o)
PLUGIN_OBJ := $(PLUGIN_SRC:%.c=$(BUILD)/plugin/%.o)
BELOW_PIC  := $(BELOW_SRC:%.c=$(BUILD)/plugin/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
# Of tests/drive these are programs of their own: the first four read recordings, crowd is clients of `ringscope serve`,
# field_tables prints tables of the documentation; otf2* reads archives; the other files are one that drives the plugin.
CHECKERS   := verify events bars spoil crowd field_tables
DRIVERS    := $(addprefix $(BUILD)/tests/,drive $(CHECKERS))
CAMPAIGN_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/campaign/lib_%,$(wildcard tests/campaign/*.c)) tests/drive/load.c)
CAMPAIGN   := $(BUILD)/tests/campaign $(patsubst tests/campaign/lib_%.c,$(BUILD)/tests/campaign_%.so,$(wildcard tests/campaign/lib_*.c))
# What fuzzers reach: the reader below its commands. The rest would only be compiled.
FUZZED_SRC := $(call sources,$(filter-out plugin bundle picture serve sim gen cli,$(FOLDERS))) src/serve/answer.c src/serve/answer.c
FORMAT_FUZZERS := $(patsubst src/foreign/%/format.c,$(BUILD)/fuzz_%,$(wildcard src/foreign/*/format.c))
FUZZERS    := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c)) $(FORMAT_FUZZERS)
BENCHES    := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
MAN_PAGES  := $(if $(shell command -v scdoc),$(patsubst docs/man/%.scd,$(BUILD)/man/%,$(wildcard docs/man/*.scd)))

RINGSCOPE := $(BUILD)/ringscope
PLUGIN    := $(BUILD)/libnccl-profiler-ringscope.so
NOP       := $(BUILD)/libnccl-profiler-ringscope-nop.so
STATIC    := $(BUILD)/libnccl-profiler-ringscope.a
TEST_LIBS := $(BUILD)/libplugin.a $(BUILD)/libringscope.a

# ---- flags -----------------------------------------------------------------------------------------------------------

# What the compiler and the libraries can do is found out by tools/config.sh. Its result also holds the knobs, and all
# objects depend on it: another compiler or a newly installed library rebuilds them.
ifneq ($(filter-out clean help deps format check demo dist mutants asan fuzz fuzz-coverage asan-built fuzz-built uninstall,$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

DRIVERS += $(if $(OTF2),$(BUILD)/tests/otf2)

# Sanitizers make gcc see dangers that are not there: no -Werror with them, but for clang.
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes $(if $(SAN),$(if $(findstring clang,$(CC)),$(WERROR:%=-Werror)),$(WERROR:%=-Werror))
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
DEFINES  := -D_GNU_SOURCE -DRS_VERSION='"$(VERSION)"' $(ABSENT) $(if $(findstring fuzzer,$(SAN)),-DRS_FUZZED)
# Sanitized code is compiled in half the time this way, and runs as fast; -g1 is enough for their stacks.
OPTIMISE := $(if $(DEBUG),-O0 -g3,$(if $(SAN),-O1 -g1,-O2 -g))
COMPILE   = $(CC) -std=c11 $(OPTIMISE) $(WARN) $(SANITIZE) -Isrc $(DEFINES) $(CPPFLAGS) $(CFLAGS) -MMD -MP
PLUGIN_CFLAGS  := -fPIC -fvisibility=hidden $(TLS_DIALECT)
PLUGIN_LDFLAGS := -shared -static-libgcc -Wl,-z,nodelete -Wl,-z,now -Wl,--version-script=src/plugin/exports.map \
	-Wl,--exclude-libs,ALL $(if $(SAN),,-Wl,-z,defs)
# The simulator stands in for libcudart towards the plugin: those symbols must be found in the executable.
EXPORTED := $(patsubst %,-Xlinker --dynamic-list=%,$(wildcard src/sim/fakecuda.syms))
LIBS     := $(LIBRARIES) -lpthread -ldl -lm

# ---- what a user wants -----------------------------------------------------------------------------------------------

all: $(RINGSCOPE) $(PLUGIN) $(NOP) $(STATIC) ## build the tool, the plugin (shared and static) and the empty plugin

demo: ## install what is missing (Debian), build, record a simulated job of 8 ranks and look at it
	@tools/deps.sh demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(BUILD) tools/demo.sh

check: ## install what is missing (Debian), build with gcc and clang, run all tests
	@tools/deps.sh check
	@MAKE='$(MAKE)' BUILD=$(BUILD) tests/check.sh

unit: $(UNIT_TESTS) all ## build and run the unit tests
	$(Q)$(RUN_TESTS) $(UNIT_TESTS)

system: all $(DRIVERS) $(CAMPAIGN) ## run the system tests
	$(Q)$(RUN_TESTS) $(wildcard tests/system/*.sh)

# What the TESTS need: unit tests themselves, scripts all programs.
tests-built: $(filter $(BUILD)/tests/%,$(TESTS)) $(if $(filter-out $(BUILD)/tests/%,$(TESTS)),all $(DRIVERS) $(CAMPAIGN))
tests: tests-built ## build and run the TESTS named (tests/system/X.sh, build/tests/test_X)
	$(Q)$(RUN_TESTS) $(TESTS)

mutants: ## wrong changes, one at a time (tests/mutants): do the tests notice?
	@MAKE='$(MAKE)' BUILD=$(BUILD) MUTANTS='$(MUTANTS)' ALL='$(ALL)' tests/mutants/run.sh $(ONLY)

campaign: all $(CAMPAIGN) ## random faults, each run held against exact counts, for CAMPAIGN_SECONDS (60)
	$(Q)$(RUN_CAMPAIGN) --seconds $(or $(CAMPAIGN_SECONDS),60)

soak: all $(CAMPAIGN) ## the same for SOAK_MINUTES (60), with the faults that take long
	$(Q)$(RUN_CAMPAIGN) --seconds $$(($(or $(SOAK_MINUTES),60) * 60))

bench: all $(BENCHES) $(DRIVERS) ## measure the recorder and the reader
	$(Q)BUILD='$(abspath $(BUILD))' RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' NOP='$(abspath $(NOP))' bench/run.sh

page: all ## types, unit tests and browser tests of the page of the timeline
	$(Q)RINGSCOPE='$(abspath $(RINGSCOPE))' tests/page.sh

# Fuzzers and the tests under AddressSanitizer are made of the same objects: what fuzzers count costs the tests little,
# and a second set of objects as much as all tests. In the one for ThreadSanitizer the folders without threads are
# those of the plain build.
IN_ASAN = --no-print-directory BUILD=$(BUILD)/asan CC=clang SAN=fuzzer-no-link,address,undefined
IN_TSAN = --no-print-directory BUILD=$(BUILD)/tsan SAN=thread PLAIN=$(BUILD)
IN_FUZZ = $(IN_ASAN)

asan: ## unit tests and fit system tests under AddressSanitizer and UBSan (clang)
	$(Q)$(MAKE) $(IN_ASAN) sanitized

tsan: all ## the same under ThreadSanitizer (gcc)
	$(Q)$(MAKE) $(IN_TSAN) sanitized

fuzz: ## fuzz each reader of foreign bytes for FUZZ_SECONDS (20)
	$(Q)$(MAKE) $(IN_FUZZ) fuzzed

# Without sanitizers, which reach no more: with the compiler's counters of lines.
fuzz-coverage: ## lines of src/join and src/export that their fuzzers reach in FUZZ_SECONDS (20) from the corpus on
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/cover CC=clang SAN=fuzzer-no-link \
		CFLAGS='-fprofile-instr-generate -fcoverage-mapping' LDFLAGS='-fprofile-instr-generate' $(addprefix $(BUILD)/cover/fuzz_,join export changed)
	$(Q)tests/fuzz/coverage.sh $(BUILD)/cover $${FUZZ_SECONDS:-20}

# The same, built and not run.
bench-built: all $(BENCHES)
asan-built:
	$(Q)$(MAKE) $(IN_ASAN) sanitized-built
tsan-built: all
	$(Q)$(MAKE) $(IN_TSAN) sanitized-built
fuzz-built:
	$(Q)$(MAKE) $(IN_FUZZ) fuzzed-built

install: all $(MAN_PAGES) ## install under PREFIX (/usr/local), below DESTDIR
	install -D -m 755 $(RINGSCOPE) $(DESTDIR)$(PREFIX)/bin/ringscope
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib $(PLUGIN) $(NOP)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(STATIC)
	install -D -m 644 completions/ringscope.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ringscope
	$(foreach s,1 7,$(if $(MAN_PAGES),install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man$s $(filter %.$s,$(MAN_PAGES));))

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/ringscope $(addprefix lib/,$(notdir $(PLUGIN) $(NOP) $(STATIC))) \
		share/bash-completion/completions/ringscope $(foreach s,1 7,$(patsubst docs/man/%.scd,share/man/man$s/%,$(wildcard docs/man/*.$s.scd))))

dist: ## a tarball of the tracked files with the built page, in BUILD: it builds without Node
	$(Q)tools/dist.sh $(BUILD) ringscope-$(VERSION)

deps: ## install what is missing of tools/packages.txt (Debian; root or sudo)
	@tools/deps.sh check

format: ## lay out all sources with clang-format
	clang-format -i $(ALL_C)

field-docs: $(BUILD)/tests/field_tables $(RINGSCOPE) ## write the tables of fields and columns in docs/ anew
	$(Q)BUILD=$(BUILD) tools/fields.sh
	$(Q)UPDATE=1 RINGSCOPE=$(abspath $(RINGSCOPE)) tests/system/export_docs.sh

clean: ## remove what was built in BUILD (not viewer/dist, which may have come with the sources, nor node_modules)
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'
	@echo; sed -n 's/^## /  /p' Makefile

## knobs: CC=clang  DEBUG=1 (no optimisation)  V=1 (show commands)  WERROR=1  BUILD=folder  SAN=address,undefined
##        CFLAGS= CPPFLAGS= LDFLAGS= (yours, added last)  PREFIX= DESTDIR= (install)  FUZZ_SECONDS=20 (fuzz, fuzz-coverage)
##        CAMPAIGN_SECONDS=60 (campaign; 20 in system)  SOAK_MINUTES=60 (soak)
##        MUTANTS='list...' ONLY='name...' ALL=1 (mutants: which, and all tests)

# ---- how it is made --------------------------------------------------------------------------------------------------

KNOBS = $(VERSION) $(CC) $(shell $(CC) -dumpversion 2>/dev/null) $(CPPFLAGS) $(CFLAGS) $(SAN) $(DEBUG) $(WERROR)
$(BUILD)/config.mk: FORCE
	@mkdir -p $(@D)
	@CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' KNOBS='$(KNOBS)' tools/config.sh >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/obj/%.o: %.c $(BUILD)/config.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c $< -o $@

# Fuzzers are told of comparisons only where bytes of files are read. Behind that numbers are compared: to be told of those
# takes as long as all the rest, and says nothing of the bytes.
ifneq ($(findstring fuzzer,$(SAN)),)
$(foreach f,$(filter-out format trace foreign serve,$(FOLDERS)),$(eval $(BUILD)/obj/src/$f/%.o: SANITIZE += -fno-sanitize-coverage=trace-cmp))
$(BUILD)/obj/src/format/kinds.o $(BUILD)/obj/tests/fuzz/%.o: SANITIZE += -fno-sanitize-coverage=trace-cmp
endif

# The page of the timeline: the script decides whether it is to be made, and touches the file only if it changed.
$(BUILD)/page.html: FORCE
	@mkdir -p $(@D)
	@WERROR='$(WERROR)' tools/page.sh $@

$(BUILD)/obj/src/bundle/page.o: $(BUILD)/page.html
$(BUILD)/obj/src/bundle/page.o: DEFINES += -DRS_PAGE_FILE='"$(BUILD)/page.html"'

# A TLS descriptor call may cost vector registers in glibc before 2.40: the callbacks use none.
ifneq ($(TLS_DIALECT),)
$(addprefix $(BUILD)/plugin/src/plugin/,entry.o start.o buffers.o masks.o): PLUGIN_CFLAGS += -mgeneral-regs-only
endif

$(BUILD)/plugin/%.o: %.c $(BUILD)/config.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(PLUGIN_CFLAGS) -c $< -o $@

$(RINGSCOPE): $(READER_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(EXPORTED) $(LDFLAGS) $(READER_OBJ) $(LIBS) -o $@

# The plugin takes from the folders below it only the modules that it calls: they come as an archive.
$(PLUGIN): $(PLUGIN_OBJ) $(BUILD)/plugin/below.a src/plugin/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(PLUGIN_LDFLAGS) $(LDFLAGS) $(PLUGIN_OBJ) $(BUILD)/plugin/below.a $(ZSTD) -o $@

$(NOP): $(addprefix $(BUILD)/plugin/src/,plugin/nop.o plugin/config.o format/settings.o) src/plugin/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(PLUGIN_LDFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@

# One object in which only NCCL's entry points are global: nothing of it, nor its zstd, meets the program's own.
$(STATIC): $(PLUGIN_OBJ) $(BUILD)/plugin/below.a
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(BUILD)/plugin/all.o $(PLUGIN_OBJ) $(BUILD)/plugin/below.a $(ZSTD)
	$(Q)objcopy --wildcard --keep-global-symbol='ncclProfiler_v*' $(BUILD)/plugin/all.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/plugin/all.o

$(BUILD)/plugin/below.a: $(BELOW_PIC)
$(BUILD)/libplugin.a: $(PLUGIN_OBJ)
$(BUILD)/libfuzzed.a: $(FUZZED_SRC:%.c=$(BUILD)/obj/%.o)
$(BUILD)/libringscope.a: $(filter-out %/cli/main.o,$(READER_OBJ))
$(BUILD)/plugin/below.a $(BUILD)/libplugin.a $(BUILD)/libfuzzed.a $(BUILD)/libringscope.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(TEST_LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $< $(TEST_LIBS) -lcmocka $(LIBS) -o $@

$(BUILD)/tests/drive: $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(CHECKERS:%=tests/drive/%.c) tests/drive/otf2%,$(wildcard tests/drive/*.c)))
$(addprefix $(BUILD)/tests/,$(CHECKERS)): $(BUILD)/tests/%: $(BUILD)/obj/tests/drive/%.o $(BUILD)/libringscope.a
$(BUILD)/tests/otf2: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/drive/otf2*.c))
$(DRIVERS):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ $(LIBS) -o $@

# The campaign is one program, which is also its driver; its libraries lie beside it.
$(BUILD)/tests/campaign: $(CAMPAIGN_OBJ)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) -rdynamic $(LDFLAGS) $^ -lpthread -ldl -lm -o $@

$(BUILD)/tests/campaign_%.so: tests/campaign/lib_%.c tests/campaign/shim.h $(BUILD)/config.mk
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIC -shared $(LDFLAGS) $< -o $@

$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(TEST_LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $< $(TEST_LIBS) $(LIBS) -o $@

$(BUILD)/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(BUILD)/obj/tests/fuzz/limits.o $(BUILD)/libfuzzed.a
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=$(SAN:fuzzer-no-link%=fuzzer%) $(LDFLAGS) $^ $(LIBS) -o $@
# One program for all input formats: its name tells which.
$(BUILD)/formats: $(BUILD)/obj/tests/fuzz/formats.o $(BUILD)/obj/tests/fuzz/limits.o $(BUILD)/libfuzzed.a
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=$(SAN:fuzzer-no-link%=fuzzer%) $(LDFLAGS) $^ $(LIBS) -o $@
$(FORMAT_FUZZERS): $(BUILD)/formats
	$(Q)ln -f $< $@

$(BUILD)/man/%: docs/man/%.scd
	@mkdir -p $(@D)
	$(Q)scdoc <$< >$@

# ---- tests -----------------------------------------------------------------------------------------------------------

# In quotes: the folder may have a space in its name.
RUN_TESTS = JOBS=$${JOBS:-$$(nproc)} RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' NOP='$(abspath $(NOP))' \
	STATIC='$(abspath $(STATIC))' BUILD='$(abspath $(BUILD))' CC='$(CC)' SAN='$(SAN)' tests/run.sh

RUN_CAMPAIGN = RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' $(BUILD)/tests/campaign --keep '$(abspath $(BUILD))/campaign'

# Only the recorder and the simulator have threads: what tests neither need not run under ThreadSanitizer.
SAN_NAME := $(if $(findstring thread,$(SAN)),thread,address)
SAN_UNIT := $(if $(findstring thread,$(SAN)),$(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(shell grep -l pthread tests/unit/test_*.c)),$(UNIT_TESTS))
sanitized-built: all $(SAN_UNIT) $(DRIVERS)
sanitized: sanitized-built
	$(Q)STAGE=$(if $(findstring thread,$(SAN)),tsan,asan)/ $(RUN_TESTS) $(SAN_UNIT) $(shell grep -l '^\# sanitizers: .*$(SAN_NAME)' tests/system/*.sh)

fuzzed-built: $(FUZZERS)
fuzzed: fuzzed-built
	$(Q)STAGE=fuzz/ $(RUN_TESTS) $(FUZZERS)

FORCE:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all demo check unit system tests tests-built mutants campaign soak bench bench-built page asan tsan fuzz fuzz-coverage \
	dist install uninstall deps format field-docs clean help sanitized sanitized-built fuzzed fuzzed-built asan-built tsan-built fuzz-built FORCE

-include $(shell test ! -d $(BUILD) || find $(BUILD)/obj $(BUILD)/plugin -name '*.d' 2>/dev/null)
