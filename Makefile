# Orca build; `./dev` stands in front of it and installs what is missing.
#
#   make                    build/release: orca, liborca.so, libOrcaAgent.so, libasgct2.so, man page,
#                               completions
#   make unit [T=pattern]       build and run the unit tests
#   make V=test | SAN=address,undefined | SAN=thread | CC=clang ...    other variants, side by side
#   make fuzz F=name S=60       fuzz tests/fuzz/name_fuzz.c for S seconds (clang)
#   make sbom                   the bill of materials (CycloneDX)
#   make release                the release file: build/orca-VERSION-linux-x86_64.tar.gz
#   make demo examples docs lint fmt fmt-check install PREFIX= DESTDIR=  clean
# VERBOSE=1 prints the commands.
#
# Source files are found by folder, so a new one needs no change here.  A folder may be empty.

SHELL  := /bin/sh
PREFIX ?= /usr/local
V      ?=
SAN    ?=
F      ?=
S      ?= 60
VERBOSE ?=
T      ?=
comma  := ,
Q      := $(if $(VERBOSE),,@)

# --- the variant: release, test, address-undefined, thread, clang, clang-thread, ..., fuzz ------
ifneq ($(filter fuzz,$(MAKECMDGOALS)),)
override CC  := clang
override SAN := fuzzer-no-link,address,undefined
override V   := fuzz
endif
IS_CLANG := $(findstring clang,$(notdir $(firstword $(CC))))
KIND     := $(or $(V),$(subst $(comma),-,$(SAN)))
ifeq ($(V),fuzz)
VARIANT  := fuzz
else
VARIANT  := $(or $(subst $() $(),-,$(strip $(IS_CLANG) $(KIND))),release)
endif
B        := build/$(VARIANT)

# What only tests run costs more to compile than to run.
CFLAGS   ?= $(if $(filter test address-undefined,$(VARIANT)),-O1 -g1,-O2 -g)

# --- flags --------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wundef -Wvla -Wformat-security \
            $(if $(filter -O1,$(CFLAGS)),-Wno-format-truncation) # without -O2 it does not see that a text fits
# base/testpoint.h: the work is counted.
COUNTED  := $(if $(filter test,$(V)),-DORCA_COUNT_WORK)
DEBUG    := $(COUNTED) $(if $(filter-out release,$(KIND)),-DORCA_DEBUG -DORCA_TEST_POINTS)
SAN_FLAG := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
            $(if $(IS_CLANG),,$(if $(findstring thread,$(SAN)),-Wno-tsan)) # it knows no fences
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread -Isrc -Iinclude $(WARNINGS) \
               $(DEBUG) $(CPPFLAGS) $(CFLAGS)
# docs/design/binaries.md says why, and what it costs; tests/binaries reads it from the files.
# The sanitizers check the same otherwise.
HARDENED    := $(if $(SAN),,-fstack-protector-strong -fstack-clash-protection -fcf-protection=full \
               $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
# The same bytes in whatever folder this is.
ALL_CFLAGS  := $(BASE_CFLAGS) $(HARDENED) -ffile-prefix-map=$(CURDIR)=. $(SAN_FLAG)
# Of no one target: what some add to their flags, make also gives to what they depend on, and so to the stamp.
COMPILES     = $(CC) $(ALL_FLAGS) $(JDK)
ALL_FLAGS   := $(ALL_CFLAGS)
ALL_LDFLAGS := -pthread $(LDFLAGS) $(SAN_FLAG) -Wl,-z,noexecstack,-z,relro,-z,now,-z,separate-code,-z,text
# In a JVM the compiler's checks call src/base/checked.c: libc's would end it.
CHECKED     := memcpy memset strncpy recv snprintf vsnprintf fprintf realpath
IN_JVM      := $(if $(SAN),,-Wl,--defsym=__stack_chk_fail=checked_stack \
               $(foreach f,$(CHECKED),-Wl$(comma)--defsym=__$(f)_chk=checked_$(f)))
AGENT_LIBS  := -l:libzstd.a
TOOL_LIBS   := -lzstd -ldw -lelf -liberty -llzma -lz -lmicrohttpd -ljansson -lexpat -lncursesw -ltinfo -lm

# The first JDK that has the JVMTI header: JAVA_HOME, the javac on PATH, /usr/lib/jvm.
JDK := $(patsubst %/include/jvmti.h,%,$(firstword $(wildcard $(addsuffix /include/jvmti.h, \
         $(JAVA_HOME) $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac))) \
         $(wildcard /usr/lib/jvm/*)))))
JNI_INC = $(if $(JDK),-isystem $(JDK)/include -isystem $(JDK)/include/linux,\
            $(error no JDK with include/jvmti.h: set JAVA_HOME or run ./dev build))

# What was compiled once, in whatever folder, is not compiled again where ccache is installed (./dev test does so).  Objects have
# no path of this folder (-ffile-prefix-map), so the folder is no part of the question.  CCACHE_DISABLE=1: compile.
CCACHE := $(if $(shell command -v ccache),CCACHE_BASEDIR='$(CURDIR)' CCACHE_NOHASHDIR=1 ccache)

# --- what is made of what -----------------------------------------------------------------------
objs      = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard $(addsuffix /*.c,$(1)))))
FOLDERS  := $(patsubst src/%/,%,$(sort $(wildcard src/*/)))
AGENT_O  := $(call objs,src/agent)
ASGCT2_O := $(call objs,src/asgct2)
CLI_O    := $(call objs,src/cli)
# Of the agent, what needs no JVM: the words of its options and of its control socket.
WORDS_O  := $(addprefix $(B)/src/agent/,request.o settings.o peers.o kept.o alloc_counts.o alloc_rows.o \
              trails.o alloc_weight.o json_text.o program_name.o)
# Everything else: the agent and the command take from it what they refer to, and no more.
LIB_O    := $(call objs,$(addprefix src/,$(filter-out agent asgct2 cli,$(FOLDERS))))
TEST_LIB  = $(filter-out %/cli/main.o,$(CLI_O)) $(B)/lib.a
UNIT_O   := $(call objs,tests/unit)
# Criterion's own main starts the program anew for each test, hides leaks and cannot run under ThreadSanitizer (see the file).
UNIT_O   += $(B)/tests/plain_runner.o
# Of libraries, what costs is counted in front of them (tests/counted.h).
COUNTED_O := $(if $(COUNTED),$(B)/tests/counted.o)
COUNTED_CALLS := memcpy memmove memset memcmp memchr memrchr memmem strlen strnlen strcmp strncmp strchr \
              strrchr strstr strspn strcspn snprintf vsnprintf printf fputs fwrite read pread write pwrite \
              inflate inflateReset2 crc32 XML_Parse XML_ParseBuffer XML_ParserReset workers_default
COUNT_CALLS := $(if $(COUNTED),$(foreach f,$(COUNTED_CALLS),-Wl$(comma)--wrap=$(f)))
FUZZERS  := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
BENCHES  := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c))
PROBE_SRC := $(sort $(wildcard java/*/*/*.java))
PROBE_O  := $(patsubst java/%.java,$(B)/probe/%.o,$(PROBE_SRC))
VIEWER_SRC := $(wildcard viewer/*.mjs viewer/src/* viewer/src/*/*)
VIEWER_O := $(addprefix $(B)/,view_html.o start_html.o report_html.o heap_html.o)
DEMO_SRC := $(shell find demo -name '*.java' 2>/dev/null)
OBJECTS  := $(AGENT_O) $(ASGCT2_O) $(CLI_O) $(LIB_O) $(UNIT_O) $(call objs,tests/fuzz tests/bench tests/classfile tests tools)
PRODUCTS := $(addprefix $(B)/,orca liborca.so libOrcaAgent.so libasgct2.so)
SHARE    := $(addprefix $(B)/share/,man/man1/orca.1 bash-completion/completions/orca \
              zsh/site-functions/_orca fish/vendor_completions.d/orca.fish \
              $(addprefix doc/orca/,LICENSE THIRD-PARTY orca.cdx.json))

.PHONY: all products sbom test unit unit-build fuzz fuzz-replay bench-build demo examples docs lint fmt fmt-check \
        check-includes viewer-check viewer-test install release clean print-variant FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: products $(if $(filter build/release,$(B)),$(SHARE))
products: $(PRODUCTS)
	@tools/check-names $(AGENT_O) $(ASGCT2_O) $(CLI_O) $(LIB_O)

$(B)/lib.a: $(LIB_O) $(VIEWER_O) $(B)/.link-flags
	@rm -f $@
	@$(AR) rcsD $@ $(LIB_O) $(VIEWER_O)
$(B)/liborca.so: $(AGENT_O) $(ASGCT2_O) $(PROBE_O) $(B)/lib.a src/agent/exports.map
	@echo "  ld  $@"
	$(Q)$(CC) -shared -o $@ -Wl,-soname,liborca.so $(IN_JVM) $(AGENT_O) $(ASGCT2_O) $(PROBE_O) $(B)/lib.a $(ALL_LDFLAGS) \
	  $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,--version-script=src/agent/exports.map \
	  -Wl,-Map=$@.map -Wl,-z,nodelete -Wl,--as-needed $(AGENT_LIBS)
$(B)/libOrcaAgent.so: $(B)/liborca.so
	@ln -sf liborca.so $@
# Only what it needs of the rest comes with it: libc is all that it is linked to.
$(B)/libasgct2.so: $(ASGCT2_O) $(B)/lib.a src/asgct2/exports.map
	@echo "  ld  $@"
	$(Q)$(CC) -shared -o $@ -Wl,-soname,libasgct2.so $(IN_JVM) $(ASGCT2_O) $(B)/lib.a $(ALL_LDFLAGS) \
	  $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,--version-script=src/asgct2/exports.map \
	  -Wl,-Map=$@.map -Wl,-z,nodelete -Wl,--gc-sections

define link
	@mkdir -p $(@D)
	@echo "  ld  $@"
	$(Q)$(CC) -pie -o $@ $(filter %.o %.a,$^) $(ALL_LDFLAGS) -Wl,-Map=$@.map -Wl,--as-needed $(TOOL_LIBS)
endef
$(B)/orca: $(CLI_O) $(B)/lib.a
	$(link)
$(B)/orca-test: $(UNIT_O) $(COUNTED_O) $(ASGCT2_O) $(WORDS_O) $(TEST_LIB)
	$(link) $(COUNT_CALLS) -lcriterion -lm
$(B)/fuzz/%-replay: $(B)/tests/fuzz/%_fuzz.o $(B)/tests/fuzz/replay.o $(COUNTED_O) \
  $(if $(COUNTED),$(B)/tests/fuzz/bounded.o) $(WORDS_O) $(TEST_LIB)
	$(link) $(COUNT_CALLS) $(if $(COUNTED),-Wl$(comma)--wrap=LLVMFuzzerTestOneInput)
$(B)/bench/%: $(B)/tests/bench/%.o $(TEST_LIB)
	$(link) -lm
$(B)/classfile-edit: $(call objs,tests/classfile) $(B)/lib.a
	$(link)

$(B)/src/agent/%.o $(B)/src/asgct2/%.o $(addprefix $(B)/tests/unit/,asgct2_test.o json_text_test.o): ALL_CFLAGS += $(JNI_INC)
ifneq ($(COUNTED),)
# FORTIFY calls other functions than those that are counted.
$(LIB_O) $(CLI_O) $(WORDS_O): ALL_CFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0
$(COUNTED_O): ALL_CFLAGS += -fvisibility=default -fno-builtin -fno-tree-loop-distribute-patterns -U_FORTIFY_SOURCE
$(filter-out $(B)/src/base/testpoint.o,$(LIB_O) $(CLI_O) $(WORDS_O)): ALL_CFLAGS += -fsanitize-coverage=trace-pc
endif
$(B)/%.o: %.c $(B)/.compile-flags
	@mkdir -p $(@D)
	@echo "  cc  $<"
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Stamps whose content is the command line: a changed flag, compiler or JDK rebuilds what depends.
define stamp
	@mkdir -p $(@D)
	@echo '$(1)' | cmp -s - $@ || echo '$(1)' > $@
endef
$(B)/.compile-flags: FORCE
	$(call stamp,$(COMPILES))
$(B)/.link-flags: FORCE
	$(call stamp,$(CC) $(ALL_LDFLAGS) $(IN_JVM) $(AGENT_LIBS) $(TOOL_LIBS) $(AGENT_O) $(CLI_O) $(LIB_O) $(UNIT_O))

# --- generated from the option tables -----------------------------------------------------------
define from_tables
	@mkdir -p $(@D)
	@$(B)/orca $(1) > $@.tmp && mv $@.tmp $@
endef
$(B)/share/man/man1/orca.1: $(B)/orca
	$(call from_tables,__man)
$(B)/share/bash-completion/completions/orca: $(B)/orca
	$(call from_tables,__complete bash)
$(B)/share/zsh/site-functions/_orca: $(B)/orca
	$(call from_tables,__complete zsh)
$(B)/share/fish/vendor_completions.d/orca.fish: $(B)/orca
	$(call from_tables,__complete fish)

# What is in the files, and under which licences: THIRD-PARTY, and the bill of materials that is made of it.
$(B)/share/doc/orca/orca.cdx.json: $(PRODUCTS) THIRD-PARTY tools/sbom.mjs tools/parts.mjs
	@mkdir -p $(@D)
	@JAVA_HOME=$(JDK) node tools/sbom.mjs $(B) > $@.tmp && mv $@.tmp $@
$(B)/share/doc/orca/%: %
	@mkdir -p $(@D)
	@cp $< $@
sbom: $(B)/share/doc/orca/orca.cdx.json
	@cat $<

# docs/reference/: the commands, the agent's options, the generated part of trace-format.md; the outputs that documents show.
$(B)/agent-options: $(B)/tools/agent-options.o $(B)/src/agent/settings.o $(B)/lib.a
	$(link)
docs: $(B)/orca $(B)/agent-options
	@LC_ALL=C.UTF-8 $(B)/orca __docs | tools/linked > docs/reference/commands.md
	@$(B)/agent-options | tools/linked > docs/reference/agent-options.md
	@tools/gen-format
	@tools/samples
	@ORCA=$(abspath $(B)/orca) tools/outputs

# --- Java ---------------------------------------------------------------------------------------
# The classes that the agent defines in the JVM, as data in liborca.so.
build/probe/.built: $(PROBE_SRC)
	@rm -rf build/probe && mkdir -p build/probe
	$(Q)$(JDK)/bin/javac -source 17 -target 17 --patch-module java.base=java -g:source,lines \
	  -Xlint:all,-options -Werror -d build/probe $(filter java/java/%,$(PROBE_SRC))
	$(Q)$(JDK)/bin/javac --release 17 -g:source,lines -Xlint:all,-options -Werror -d build/probe \
	  $(filter java/orca/%,$(PROBE_SRC))
	@touch $@
$(B)/probe/%.o: build/probe/.built tools/embed.S $(B)/.compile-flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(HARDENED) -c -o $@ -DNAME=$(subst /,_,$*) -DFILE='"build/probe/$*.class"' tools/embed.S

# --- the viewer ---------------------------------------------------------------------------------
# Four pages, as data in orca (viewer/build.mjs).
viewer/node_modules/.package-lock.json: viewer/package-lock.json
	@echo "  npm viewer"
	$(Q)cd viewer && npm ci --ignore-scripts --loglevel=error --fetch-timeout=60000
	@touch $@
build/viewer/.built: viewer/node_modules/.package-lock.json viewer/package.json $(VIEWER_SRC)
	@echo "  js  build/viewer"
	$(Q)node viewer/build.mjs build/viewer
	@touch $@
$(VIEWER_O): $(B)/%_html.o: build/viewer/.built tools/embed.S $(B)/.compile-flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(HARDENED) -c -o $@ -DNAME=$*_html -DFILE='"build/viewer/$*.html"' tools/embed.S
viewer-check: viewer/node_modules/.package-lock.json
	cd viewer && node_modules/.bin/tsc --noEmit
# What needs no browser: packs, tables, layouts.
viewer-test: viewer/node_modules/.package-lock.json
	node viewer/test.mjs $(T)

# What a user of AsyncGetCallTrace2 builds: the public header and the library, none of src/.
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/lib%.so,$(wildcard examples/*.c))
examples: $(EXAMPLES)
$(B)/examples/lib%.so: examples/%.c include/orca/asgct2.h $(B)/libasgct2.so $(B)/.compile-flags
	@mkdir -p $(@D)
	@echo "  cc  $<"
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) -fPIC -shared -Iinclude $(JNI_INC) -o $@ $< \
	  -L$(B) -lasgct2 -Wl,-rpath,'$$ORIGIN/..'

demo: $(if $(DEMO_SRC),build/demo/.built)
build/demo/.built: $(DEMO_SRC)
	@rm -rf build/demo && mkdir -p build/demo
	$(JDK)/bin/javac --release 17 -g -Xlint:-options -d build/demo $(DEMO_SRC)
	@touch $@

# --- tests --------------------------------------------------------------------------------------
unit-build: $(B)/orca-test
unit: $(B)/orca-test
	$(B)/orca-test $(if $(T),--filter '$(T)')
fuzz-replay: $(patsubst %,$(B)/fuzz/%-replay,$(FUZZERS))
bench-build: $(patsubst %,$(B)/bench/%,$(BENCHES))

# Inputs that taught the fuzzer something are kept in build/fuzz/corpus/F; a finding lands in
# build/fuzz/found/F: fix it, then save the input under tests/fuzz/F.  tests/fuzz/F.dict: words to use.
$(B)/fuzz-%: $(B)/tests/fuzz/%_fuzz.o $(WORDS_O) $(TEST_LIB)
	@echo "  ld  $@"
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) $(subst fuzzer-no-link,fuzzer,$(ALL_LDFLAGS)) $(TOOL_LIBS)
fuzz: $(if $(F),$(B)/fuzz-$(F))
	@test -n "$(F)" || { echo "make fuzz F=name S=seconds; names: $(FUZZERS)" >&2; exit 2; }
	@mkdir -p $(B)/corpus/$(F) $(B)/found/$(F) tests/fuzz/$(F)
	$(B)/fuzz-$(F) -max_total_time=$(S) -print_final_stats=1 -rss_limit_mb=1024 -malloc_limit_mb=512 \
	  $(addprefix -dict=,$(wildcard tests/fuzz/$(F).dict)) \
	  -timeout=10 -artifact_prefix=$(B)/found/$(F)/ $(B)/corpus/$(F) tests/fuzz/$(F)

test:
	tests/run build includes binaries unit asan golden readers classfile jvm workloads
check-includes:
	tools/check-includes
	tools/check-waits
	tools/check-docs
	tools/check-figures
	tools/check-prints

# --- lint and format ----------------------------------------------------------------------------
SOURCES = $(shell find include src tests tools examples -name '*.[ch]')
lint: check-includes
	@find src -name '*.c' -print0 | xargs -0 -r -n 4 -P "$$(nproc)" sh -c \
	  'clang-tidy --quiet --warnings-as-errors="*" "$$@" -- $(BASE_CFLAGS) -DORCA_DEBUG $(JNI_INC)' lint
fmt:
	clang-format -i $(SOURCES)
fmt-check:
	clang-format --dry-run -Werror $(SOURCES)

# --- install ------------------------------------------------------------------------------------
D = $(DESTDIR)$(PREFIX)
install: all
	install -d "$(D)/bin" "$(D)/lib"
	install -m 755 $(B)/orca "$(D)/bin/orca"
	install -m 644 $(B)/liborca.so "$(D)/lib/liborca.so"
	install -m 644 $(B)/libasgct2.so "$(D)/lib/libasgct2.so"
	install -D -m 644 include/orca/asgct2.h "$(D)/include/orca/asgct2.h"
	ln -sf liborca.so "$(D)/lib/libOrcaAgent.so"
	cd $(B)/share && find . -type f | while read -r f; do \
	  (cd $(CURDIR) && install -D -m 644 "$(B)/share/$$f" "$(D)/share/$$f") || exit 1; done

# What is installed, below one folder; the same bytes whoever makes it.
VERSION := $(shell sed -n 's/.*ORCA_VERSION "\(.*\)"/\1/p' src/base/version.h)
RELEASE := orca-$(VERSION)-linux-x86_64
release: all
	@rm -rf build/$(RELEASE)
	@$(MAKE) -s install DESTDIR= PREFIX=build/$(RELEASE)
	@tar -c -C build --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=go=rX $(RELEASE) | \
	  gzip -n >build/$(RELEASE).tar.gz
	@rm -rf build/$(RELEASE)
	@echo build/$(RELEASE).tar.gz

print-variant:
	@echo $(VARIANT)
clean:
	rm -rf build
-include $(wildcard $(OBJECTS:.o=.d))
