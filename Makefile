# ringscope: the recorder (NCCL profiler plugin), the empty plugin, and the command-line reader.
# `make help` lists targets and variables. Plain `make` builds with the libraries that are installed; it installs none.

VERSION := 0.1.0

BUILD  ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,cc)
endif
Q := $(if $(filter 1,$(V)),,@)
COMMA := ,
say = $(if $(Q),@printf '  %-5s %s\n' $(1) $(2))

# ---- sources ---------------------------------------------------------------------------------------------------------

FOLDERS    := $(shell sed -n 's/^\([a-z]*\) *|.*/\1/p' src/folders)
BELOW      := base nccl format
sources     = $(wildcard $(foreach f,$(1),src/$f/*.c src/$f/*/*.c))
BELOW_SRC  := $(call sources,$(BELOW))
READER_SRC := $(call sources,$(filter-out plugin,$(FOLDERS)))
PLUGIN_SRC := $(filter-out src/plugin/nop.c,$(call sources,plugin))
ALL_C      := $(wildcard src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] bench/*.[ch] examples/*.[ch] tools/*/*.[ch])

# A build for ThreadSanitizer takes the objects of folders without threads from the plain build, PLAIN.
THREADED   := $(BELOW) trace serve sim gen cli
PLAIN_SRC  := $(if $(PLAIN),$(call sources,$(filter-out plugin $(THREADED),$(FOLDERS))))

READER_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(PLAIN_SRC),$(READER_SRC))) $(PLAIN_SRC:%.c=$(PLAIN)/obj/%.o)
PLUGIN_OBJ := $(PLUGIN_SRC:%.c=$(BUILD)/plugin/%.o)
NOP_OBJ    := $(addprefix $(BUILD)/plugin/src/,plugin/nop.o plugin/config.o format/settings.o)
BELOW_PIC  := $(BELOW_SRC:%.c=$(BUILD)/plugin/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
# Programs in tests/drive: verify, events, bars and spoil read recordings, crowd plays the clients of `ringscope serve`,
# field_tables prints tables of the documentation, conclusions counts what reports of generated runs conclude, differences what comparisons of them do, otf2* read archives. The other files are drive, which drives the plugin.
CHECKERS   := verify events bars spoil crowd field_tables conclusions differences
DRIVERS    := $(addprefix $(BUILD)/tests/,drive $(CHECKERS))
CAMPAIGN_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/campaign/lib_%,$(wildcard tests/campaign/*.c)) tests/drive/load.c)
CAMPAIGN   := $(BUILD)/tests/campaign $(patsubst tests/campaign/lib_%.c,$(BUILD)/tests/campaign_%.so,$(wildcard tests/campaign/lib_*.c))
# What the fuzzers reach: the reader below its commands.
FUZZED_SRC := $(call sources,$(filter-out plugin bundle picture serve sim gen cli,$(FOLDERS))) src/serve/answer.c
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

# tools/config.sh finds out what the compiler and the libraries can do. Its result also contains the variables, and all
# objects depend on it: another compiler or a newly installed library rebuilds them.
ifneq ($(filter-out clean help deps format check demo dist mutants asan fuzz fuzz-coverage asan-built fuzz-built uninstall,$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

DRIVERS += $(if $(OTF2),$(BUILD)/tests/otf2)

# With sanitizers gcc warns of errors that are none: -Werror with clang only.
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes $(if $(SAN),$(if $(findstring clang,$(CC)),$(WERROR:%=-Werror)),$(WERROR:%=-Werror))
# AddressSanitizer finds an access through a null pointer and one outside of an object as well; checking pointers before each access
# takes most of the compiler's time. Alignment is checked where bytes of files are read (below).
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) $(if $(findstring address,$(SAN)),-fno-sanitize=null$(COMMA)object-size$(COMMA)pointer-overflow$(COMMA)alignment) -fno-sanitize-recover=all -fno-omit-frame-pointer)
DEFINES  := -D_GNU_SOURCE -DRS_VERSION='"$(VERSION)"' $(ABSENT) $(if $(findstring fuzzer,$(SAN)),-DRS_FUZZED)
# Sanitized code compiles twice as fast with -O1 and runs as fast as with -O2; -g1 is enough for stack traces.
OPTIMISE := $(if $(DEBUG),-O0 -g3,$(if $(SAN),-O1 -g1,-O2 -g))
COMPILE   = $(CC) -std=c11 $(OPTIMISE) $(WARN) $(SANITIZE) -Isrc $(DEFINES) $(CPPFLAGS) $(CFLAGS) -MMD -MP
PLUGIN_CFLAGS  := -fPIC -fvisibility=hidden $(TLS_DIALECT)
PLUGIN_LDFLAGS := -shared -static-libgcc -Wl,-z,nodelete -Wl,-z,now -Wl,--version-script=src/plugin/exports.map \
	-Wl,--exclude-libs,ALL $(if $(SAN),,-Wl,-z,defs)
# The simulator stands in for libcudart towards the plugin: those symbols must be found in the executable.
EXPORTED := $(patsubst %,-Xlinker --dynamic-list=%,$(wildcard src/sim/fakecuda.syms))
LIBS     := $(LIBRARIES) -lpthread -ldl -lm

# ---- targets ---------------------------------------------------------------------------------------------------------

all: $(RINGSCOPE) $(PLUGIN) $(NOP) $(STATIC) ## build ringscope, the plugin (shared and static) and the empty plugin

demo: ## install missing packages (Debian), build, record a simulated job of 8 ranks and analyse it
	@tools/deps.sh demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(BUILD) tools/demo.sh

check: ## install missing packages (Debian), build with gcc and clang, run all tests
	@tools/deps.sh check
	@MAKE='$(MAKE)' BUILD=$(BUILD) tests/check.sh

unit: $(UNIT_TESTS) all ## build and run the unit tests
	$(Q)$(RUN_TESTS) $(UNIT_TESTS)

system: all $(DRIVERS) $(CAMPAIGN) portable ## run the system tests
	$(Q)$(RUN_TESTS) $(wildcard tests/system/*.sh)

# What the TESTS need: unit tests themselves, scripts all programs.
tests-built: $(filter $(BUILD)/tests/%,$(TESTS)) $(if $(filter-out $(BUILD)/tests/%,$(TESTS)),all $(DRIVERS) $(CAMPAIGN) portable)
tests: tests-built ## build and run the TESTS named (tests/system/X.sh, build/tests/test_X)
	$(Q)$(RUN_TESTS) $(TESTS)

mutants: ## check that tests fail for each of the wrong changes listed in tests/mutants
	@MAKE='$(MAKE)' BUILD=$(BUILD) MUTANTS='$(MUTANTS)' ALL='$(ALL)' tests/mutants/run.sh $(ONLY)

campaign: all $(CAMPAIGN) ## random faults for CAMPAIGN_SECONDS (60); every run is compared with exact counts
	$(Q)$(RUN_CAMPAIGN) --seconds $(or $(CAMPAIGN_SECONDS),60)

soak: all $(CAMPAIGN) ## random faults for SOAK_MINUTES (60), including slow ones
	$(Q)$(RUN_CAMPAIGN) --seconds $$(($(or $(SOAK_MINUTES),60) * 60))

# Each of them takes SEEDS or KILLS; `make check` runs them with few.
SWEPT = $(wildcard $(shell grep -lE '\$$\{(SEEDS|KILLS):-' tests/system/*.sh))
sweep: all $(DRIVERS) ## tests with random input over many seeds: SEEDS (20), KILLS (1000)
	$(Q)SEEDS=$(or $(SEEDS),20) KILLS=$(or $(KILLS),1000) TEST_SECONDS=7200 $(RUN_TESTS) $(SWEPT)

bench: all $(BENCHES) $(DRIVERS) ## measure the recorder and the reader
	$(Q)BUILD='$(abspath $(BUILD))' RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' NOP='$(abspath $(NOP))' bench/run.sh

page: all ## types, unit tests and browser tests of the timeline page
	$(Q)RINGSCOPE='$(abspath $(RINGSCOPE))' tests/page.sh

# Fuzzers and the tests under AddressSanitizer share their objects: coverage counters slow the tests down a little, a second
# set of objects would take as long to compile as all tests take to run.
IN_ASAN = --no-print-directory BUILD=$(BUILD)/asan CC=clang SAN=fuzzer-no-link,address,undefined
IN_TSAN = --no-print-directory BUILD=$(BUILD)/tsan SAN=thread PLAIN=$(BUILD)
IN_FUZZ = $(IN_ASAN)

asan: ## unit tests and suitable system tests under AddressSanitizer and UBSan (clang)
	$(Q)$(MAKE) $(IN_ASAN) sanitized

tsan: all ## tests with threads under ThreadSanitizer (gcc)
	$(Q)$(MAKE) $(IN_TSAN) sanitized

fuzz: ## fuzz all code that reads untrusted bytes, FUZZ_SECONDS (20) each
	$(Q)$(MAKE) $(IN_FUZZ) fuzzed

# Without sanitizers, which do not change what is reached.
fuzz-coverage: ## lines of src/join and src/export that the fuzzers reach, from the corpus and in FUZZ_SECONDS (20)
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/cover CC=clang SAN=fuzzer-no-link \
		CFLAGS='-fprofile-instr-generate -fcoverage-mapping' LDFLAGS='-fprofile-instr-generate' $(addprefix $(BUILD)/cover/fuzz_,join export changed)
	$(Q)tests/fuzz/coverage.sh $(BUILD)/cover $${FUZZ_SECONDS:-20}

# The same, only built.
bench-built: all $(BENCHES)
asan-built:
	$(Q)$(MAKE) $(IN_ASAN) sanitized-built
tsan-built: all
	$(Q)$(MAKE) $(IN_TSAN) sanitized-built
fuzz-built:
	$(Q)$(MAKE) $(IN_FUZZ) fuzzed-built

# Where shells look for completions, below a prefix: bash, zsh, fish.
COMPLETIONS := share/bash-completion/completions/ringscope share/zsh/site-functions/_ringscope \
	share/fish/vendor_completions.d/ringscope.fish

# install_under FOLDER, PROGRAMS, Q: the program and the shared plugins are in PROGRAMS.
define install_under
	$(3)install -D -m 755 $(2)/$(notdir $(RINGSCOPE)) $(1)/bin/ringscope
	$(3)install -D -m 755 -t $(1)/lib $(addprefix $(2)/,$(notdir $(PLUGIN) $(NOP)))
	$(3)install -D -m 644 -t $(1)/lib $(STATIC)
	$(3)install -D -m 644 completions/ringscope.bash $(1)/$(word 1,$(COMPLETIONS))
	$(3)install -D -m 644 completions/ringscope.zsh $(1)/$(word 2,$(COMPLETIONS))
	$(3)install -D -m 644 completions/ringscope.fish $(1)/$(word 3,$(COMPLETIONS))
	$(3)$(foreach s,1 7,$(if $(MAN_PAGES),install -D -m 644 -t $(1)/share/man/man$s $(filter %.$s,$(MAN_PAGES));))
endef

install: all $(MAN_PAGES) ## install under PREFIX (/usr/local), below DESTDIR
	$(call install_under,$(DESTDIR)$(PREFIX),$(BUILD))

uninstall: ## remove what install installed
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/ringscope $(addprefix lib/,$(notdir $(PLUGIN) $(NOP) $(STATIC))) \
		$(COMPLETIONS) $(foreach s,1 7,$(patsubst docs/man/%.scd,share/man/man$s/%,$(wildcard docs/man/*.$s.scd))))

dist: ## make a tarball in BUILD of the tracked files and the built page: building it needs no Node
	$(Q)tools/dist.sh $(BUILD) ringscope-$(VERSION)

package: portable ## make a tarball that runs anywhere, a .deb and a Python wheel in BUILD/packages, for glibc 2.17 or newer
	@test -z '$(SHARED_ONLY)' || { echo "package: no static archive of $(SHARED_ONLY): install it, or leave it out with" \
		"WITHOUT='$(SHARED_ONLY)'" >&2; exit 1; }
	@test -n '$(MAN_PAGES)' || { echo "package: scdoc, which makes the man pages, is not installed" >&2; exit 1; }
	$(Q)tools/package/pack.sh $(PORTABLE)/root $(VERSION) '$(PARTS)' $(BUILD)/packages

deps: ## install missing packages of tools/packages.txt (Debian; root or sudo)
	@tools/deps.sh check

format: ## format all sources with clang-format
	clang-format -i $(ALL_C)

field-docs: $(BUILD)/tests/field_tables $(RINGSCOPE) ## update the tables of fields and columns in docs/
	$(Q)BUILD=$(BUILD) tools/fields.sh
	$(Q)UPDATE=1 RINGSCOPE=$(abspath $(RINGSCOPE)) tests/system/export_docs.sh

docs: all portable $(BUILD)/tests/field_tables ## update the output of all commands in README.md and docs/, and field-docs
	$(Q)$(MAKE) --no-print-directory field-docs
	$(Q)RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' BUILD='$(abspath $(BUILD))' CC='$(CC)' JOBS=2 tools/docs.sh

clean: ## remove BUILD (viewer/dist, which may have come with the sources, and node_modules stay)
	rm -rf $(BUILD)

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-15s %s\n", $$1, $$2 }'
	@echo; sed -n 's/^## /  /p' Makefile

## variables: CC=clang  DEBUG=1 (no optimisation)  V=1 (show commands)  WERROR=1  BUILD=folder  SAN=address,undefined
##            CFLAGS= CPPFLAGS= LDFLAGS= (yours, added last)  PREFIX= DESTDIR= (install)  FUZZ_SECONDS=20 (fuzz, fuzz-coverage)
##            CAMPAIGN_SECONDS=60 (campaign; 20 in system)  SOAK_MINUTES=60 (soak)  SEEDS=20 KILLS=1000 (sweep)
##            WITHOUT='OTF2 SQLITE' (optional libraries to leave out: ZSTD ZLIB SQLITE LIBEVENT OTF2)
##            MUTANTS='list...' ONLY='name...' ALL=1 (mutants: which, and all tests)

# ---- rules -----------------------------------------------------------------------------------------------------------

KNOBS = $(VERSION) $(CC) $(shell $(CC) -dumpversion 2>/dev/null) $(CPPFLAGS) $(CFLAGS) $(SAN) $(DEBUG) $(WERROR) $(WITHOUT)
$(BUILD)/config.mk: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' WITHOUT='$(WITHOUT)' KNOBS='$(KNOBS)' tools/config.sh >$$new || { rm $$new; exit 1; }; \
		if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

$(BUILD)/obj/%.o: %.c $(BUILD)/config.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c $< -o $@

# Under AddressSanitizer, what does little work is not optimised: it compiles four times as fast.
ifneq ($(findstring address,$(SAN)),)
$(addprefix $(BUILD)/obj/,tests/unit/%.o tests/drive/%.o $(foreach f,analyse conclude fields timeline bundle picture sim gen cli,src/$f/%.o)): OPTIMISE := -O0 $(if $(DEBUG),-g3,-g1)
$(foreach f,format trace foreign serve,$(eval $(BUILD)/obj/src/$f/%.o $(BUILD)/plugin/src/$f/%.o: SANITIZE += -fsanitize=alignment))
endif

# Comparisons are traced only where bytes of files are read. Beyond that, tracing takes as long as everything else and tells
# the fuzzer nothing about the bytes.
ifneq ($(findstring fuzzer,$(SAN)),)
$(foreach f,$(filter-out format trace foreign serve,$(FOLDERS)),$(eval $(BUILD)/obj/src/$f/%.o: SANITIZE += -fno-sanitize-coverage=trace-cmp))
$(BUILD)/obj/src/format/kinds.o $(BUILD)/obj/tests/fuzz/%.o: SANITIZE += -fno-sanitize-coverage=trace-cmp
endif

# The timeline page: the script decides whether it has to be built, and touches the file only if it changed.
$(BUILD)/page.html: FORCE
	@mkdir -p $(@D)
	@WERROR='$(WERROR)' tools/page.sh $@

$(BUILD)/obj/src/bundle/page.o: $(BUILD)/page.html
$(BUILD)/obj/src/bundle/page.o: DEFINES += -DRS_PAGE_FILE='"$(BUILD)/page.html"'

# In glibc before 2.40 a TLS descriptor call may clobber vector registers: the callbacks use none.
ifneq ($(TLS_DIALECT),)
$(addprefix $(BUILD)/plugin/src/plugin/,entry.o start.o buffers.o masks.o detail.o): PLUGIN_CFLAGS += -mgeneral-regs-only
endif

$(BUILD)/plugin/%.o: %.c $(BUILD)/config.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(PLUGIN_CFLAGS) -c $< -o $@

$(RINGSCOPE): $(READER_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(EXPORTED) $(LDFLAGS) $(READER_OBJ) $(LIBS) -o $@

# From the folders below it the plugin links only the modules that it calls: they are an archive.
$(PLUGIN): $(PLUGIN_OBJ) $(BUILD)/plugin/below.a src/plugin/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(PLUGIN_LDFLAGS) $(LDFLAGS) $(PLUGIN_OBJ) $(BUILD)/plugin/below.a $(ZSTD) -o $@

$(NOP): $(NOP_OBJ) src/plugin/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(PLUGIN_LDFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@

# One object in which only NCCL's entry points are global: neither its functions nor its zstd clash with the program's.
$(STATIC): $(PLUGIN_OBJ) $(BUILD)/plugin/below.a
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(BUILD)/plugin/all.o $(PLUGIN_OBJ) $(BUILD)/plugin/below.a $(ZSTD)
	$(Q)objcopy --wildcard --keep-global-symbol='ncclProfiler_v*' $(BUILD)/plugin/all.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/plugin/all.o

# ---- for packages: the same objects, linked to run with old C libraries ----

OLDEST_GLIBC := 2.17
PORTABLE := $(BUILD)/portable
# What is in the packages besides ringscope, for tools/package/pack.sh.
PARTS     = $(foreach p,ZSTD ZLIB SQLITE LIBEVENT OTF2,$(if $($p),$p)) XXHASH LIBGCC $(if $(shell test -s $(BUILD)/page.html && echo yes),PAGE)
PORTABLE_LIBS = -nodefaultlibs -L$(PORTABLE)/stubs -Wl,--as-needed $(PORTABLE)/old_glibc.a -lpthread -ldl -lm -lrt -lc -lld \
	$(shell $(CC) -print-file-name=libc_nonshared.a) -lgcc
PORTABLE_FILES = $(if $(SHARED_ONLY),,$(addprefix $(PORTABLE)/,$(notdir $(RINGSCOPE) $(PLUGIN) $(NOP))))

# What is packed. Without the static archive of a library there is nothing.
portable: $(PORTABLE_FILES) $(STATIC) $(MAN_PAGES)
	$(Q)rm -rf $(PORTABLE)/root
	$(if $(PORTABLE_FILES),$(call install_under,$(PORTABLE)/root,$(PORTABLE),$(Q)))

$(PORTABLE)/stubs/symbols: tools/package/stubs.sh $(BUILD)/config.mk
	$(call say,STUBS,$(@D))
	$(Q)CC='$(CC)' tools/package/stubs.sh $(OLDEST_GLIBC) $(@D)

$(PORTABLE)/old_%.o: tools/package/old_%.c $(BUILD)/config.mk
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIC -fvisibility=hidden -c $< -o $@

$(PORTABLE)/ringscope: $(READER_OBJ) $(PORTABLE)/old_start.o $(PORTABLE)/old_glibc.a $(PORTABLE)/stubs/symbols
	$(call say,LINK,$@)
	$(Q)$(CC) $(EXPORTED) -Wl,--wrap=__libc_start_main $(LDFLAGS) $(READER_OBJ) $(PORTABLE)/old_start.o $(ARCHIVES) $(PORTABLE_LIBS) -s -o $@

$(PORTABLE)/$(notdir $(PLUGIN)): $(PLUGIN_OBJ) $(BUILD)/plugin/below.a
$(PORTABLE)/$(notdir $(NOP)): $(NOP_OBJ)
$(addprefix $(PORTABLE)/,$(notdir $(PLUGIN) $(NOP))): src/plugin/exports.map $(PORTABLE)/old_glibc.a $(PORTABLE)/stubs/symbols
	$(call say,LINK,$@)
	$(Q)$(CC) $(PLUGIN_LDFLAGS) $(LDFLAGS) $(filter $(BUILD)/plugin/%,$^) $(ZSTD) $(PORTABLE_LIBS) -s -o $@

# ---- archives ----

$(BUILD)/plugin/below.a: $(BELOW_PIC)
$(PORTABLE)/old_glibc.a: $(PORTABLE)/old_glibc.o
$(BUILD)/libplugin.a: $(PLUGIN_OBJ)
$(BUILD)/libfuzzed.a: $(FUZZED_SRC:%.c=$(BUILD)/obj/%.o)
$(BUILD)/libringscope.a: $(filter-out %/cli/main.o,$(READER_OBJ))
$(BUILD)/plugin/below.a $(BUILD)/libplugin.a $(BUILD)/libfuzzed.a $(BUILD)/libringscope.a $(PORTABLE)/old_glibc.a:
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

# The campaign is one program, which is also its driver; its libraries are beside it.
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
# One program for all input formats: its name says which.
$(BUILD)/formats: $(BUILD)/obj/tests/fuzz/formats.o $(BUILD)/obj/tests/fuzz/limits.o $(BUILD)/libfuzzed.a
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=$(SAN:fuzzer-no-link%=fuzzer%) $(LDFLAGS) $^ $(LIBS) -o $@
$(FORMAT_FUZZERS): $(BUILD)/formats
	$(Q)ln -f $< $@

$(BUILD)/man/%: docs/man/%.scd
	@mkdir -p $(@D)
	$(Q)scdoc <$< >$@

# ---- tests -----------------------------------------------------------------------------------------------------------

# In quotes: the path may contain spaces.
RUN_TESTS = JOBS=$${JOBS:-$$(nproc)} RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' NOP='$(abspath $(NOP))' \
	STATIC='$(abspath $(STATIC))' BUILD='$(abspath $(BUILD))' CC='$(CC)' SAN='$(SAN)' tests/run.sh

RUN_CAMPAIGN = RINGSCOPE='$(abspath $(RINGSCOPE))' PLUGIN='$(abspath $(PLUGIN))' $(BUILD)/tests/campaign --keep '$(abspath $(BUILD))/campaign'

# Only the recorder and the simulator have threads: under ThreadSanitizer only their tests run.
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
.PHONY: all demo check unit system tests tests-built mutants campaign soak sweep bench bench-built page asan tsan fuzz fuzz-coverage \
	dist package portable install uninstall deps format field-docs docs clean help sanitized sanitized-built fuzzed fuzzed-built asan-built tsan-built fuzz-built FORCE

-include $(shell test ! -d $(BUILD) || find $(BUILD)/obj $(BUILD)/plugin -name '*.d' 2>/dev/null)
