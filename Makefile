# SPDX-License-Identifier: GPL-3.0-or-later
#
# make                 build into build/
# make demo            fresh Debian 12 machine, root: make a live ISO, reorder it, show what came of it
# make check           install what the tests need, build, run all tests
# make check-fast      the tests without a virtual machine, and the source checks
# make fuzz            fuzz the readers of untrusted input: SECONDS=600 each, T=name for one of them
# make bench           measurements (never part of a test)
# make install         PREFIX, DESTDIR; make uninstall takes the same away
# make help            this list
#
# Knobs: O=dir (build directory), DEV=1 (warnings are errors, ASAN and UBSAN), V=1 (show commands),
#        CC, CFLAGS, LDFLAGS, MUSL_GCC (compiler of the static guest programs), T=name (one test of check),
#        FUZZ=1 (fuzz targets for libFuzzer, by clang; without it they are programs that take files).

O ?= build
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
MUSL_GCC ?= musl-gcc
INSTALL ?= install
PROVE ?= prove
SECONDS ?= 600

VERSION := $(shell sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)

LIBS_PKG := glib-2.0 gio-2.0 json-glib-1.0 libsquashfs1 ext2fs com_err blkid devmapper zlib liblzma libzstd liblz4 libcrypto
PKG_CFLAGS := $(shell pkg-config --cflags $(LIBS_PKG))
PKG_LIBS := $(shell pkg-config --libs $(LIBS_PKG)) -lbz2 -llzo2 -lm

WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wvla -Wmissing-prototypes -Wstrict-prototypes \
	-Wwrite-strings -Wpointer-arith -Wformat=2 -Wimplicit-fallthrough -Wnull-dereference
ifdef FUZZ
CC := clang
CFLAGS ?= -O1 -g
SANITIZE := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
else ifdef DEV
CFLAGS ?= -O1 -g
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
WARNINGS += -Werror
else
CFLAGS ?= -O2 -g
endif

BASE_CFLAGS = -std=gnu11 -I. $(WARNINGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DREORDER_VERSION='"$(VERSION)"' -DG_LOG_DOMAIN='"reorder-livecd"' $(PKG_CFLAGS)
ALL_CFLAGS = $(BASE_CFLAGS) $(SANITIZE) $(CFLAGS)
ALL_LDFLAGS = $(SANITIZE) $(LDFLAGS)
GUEST_CFLAGS = -std=gnu11 -I. $(WARNINGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Os -static \
	-idirafter /usr/include -idirafter /usr/include/$(shell $(CC) -print-multiarch)

ifndef V
Q := @
say = @echo "  $(1)"
endif

# The lowest first: none includes a header of one that comes behind it.
MODULES := reorder/util reorder/image iso trace dm reorder/plan reorder/splice reorder/ext4 reorder
SOURCES := $(foreach m,$(MODULES),$(filter-out reorder/main.c,$(wildcard $(m)/*.c)))
# The drive model serves the plugin and the simulator.
SOURCES += trace/medium/drive.c
OBJECTS := $(SOURCES:%.c=$(O)/%.o)
LIBRARY := $(O)/libreorder.a
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/%,$(wildcard tests/unit/*.c))
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c)))
FUZZ_MAIN := $(if $(FUZZ),-fsanitize=fuzzer,$(O)/tests/fuzz/replay.o)
AGENT_SOURCES := $(wildcard trace/agent/*.c) reorder/guest/guest.c
LOADER_SOURCES := $(wildcard dm/loader/*.c) dm/map_text.c dm/medium_id.c dm/sweep.c dm/table.c \
	reorder/guest/guest.c
LOADER_MAX := 102400
GUEST_HEADERS := $(wildcard trace/agent/*.h dm/*.h dm/loader/*.h reorder/guest/*.h)
PLUGIN_SOURCES := $(wildcard trace/medium/*.c)

PROGRAM := $(O)/reorder-livecd
AGENT := $(O)/reorder-agent
LOADER := $(O)/reorder-hot-loader
PLUGIN := $(O)/reorder-medium-plugin.so

.PHONY: all demo check check-fast check-source bench fuzz deps install uninstall clean help unit-tests fuzz-targets
.DELETE_ON_ERROR:

all: $(PROGRAM) $(AGENT) $(LOADER) $(PLUGIN)

$(PROGRAM): $(O)/reorder/main.o $(LIBRARY)
	$(call say,LD $@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(LIBRARY): $(OBJECTS)
	$(call say,AR $@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c $(O)/.flags
	$(call say,CC $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(AGENT): $(AGENT_SOURCES) $(GUEST_HEADERS) $(O)/.flags
	$(call say,MUSL $@)
	@mkdir -p $(@D)
	$(Q)$(MUSL_GCC) $(GUEST_CFLAGS) -s -o $@ $(AGENT_SOURCES)

# The kernel's own headers come last: everything else is musl's. Each of its bytes is read at a boot.
$(LOADER): $(LOADER_SOURCES) $(GUEST_HEADERS) $(O)/.flags
	$(call say,MUSL $@)
	@mkdir -p $(@D)
	$(Q)$(MUSL_GCC) $(GUEST_CFLAGS) -ffunction-sections -Wl,--gc-sections -s -o $@ $(LOADER_SOURCES)
	@test "$$(wc -c <$@)" -le $(LOADER_MAX) || { echo "$@: more than $(LOADER_MAX) bytes" >&2; exit 1; }

# Not sanitized: nbdkit loads it.
$(PLUGIN): $(PLUGIN_SOURCES) $(wildcard trace/medium/*.h) $(O)/.flags
	$(call say,PLUGIN $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -I. $(WARNINGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(CFLAGS) -fPIC -shared \
		-o $@ $(PLUGIN_SOURCES) -lm

$(O)/tests/%: tests/unit/%.c $(LIBRARY)
	$(call say,TEST $@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(LIBRARY) $(PKG_LIBS) -lm

unit-tests: $(UNIT_TESTS)

$(O)/fuzz/%: tests/fuzz/%.c $(LIBRARY) $(filter %.o,$(FUZZ_MAIN))
	$(call say,FUZZ $@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(FUZZ_MAIN) $(LIBRARY) $(PKG_LIBS)

fuzz-targets: $(FUZZ_TARGETS)
.SECONDARY: $(O)/tests/fuzz/replay.o

# Rebuild when the compiler or its options change.
FLAGS_TEXT = $(CC) $(BASE_CFLAGS) $(SANITIZE) $(CFLAGS) $(ALL_LDFLAGS) $(MUSL_GCC) $(VERSION)
$(O)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_TEXT))' > $@
FORCE:

-include $(OBJECTS:.o=.d) $(O)/reorder/main.d $(UNIT_TESTS:=.d) $(FUZZ_TARGETS:=.d) $(O)/tests/fuzz/replay.d

deps:
	tests/install-packages

demo: deps
	$(MAKE) all
	tests/demo "$(PROGRAM)"

check: deps
	tests/run --all $(T)

check-fast:
	tests/run --fast $(T)

check-source:
	tests/source/check

fuzz:
	tests/fuzz/run $(SECONDS) $(T)

bench: all
	tests/bench/run "$(PROGRAM)" $(T)

install: all
	$(INSTALL) -D -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)/reorder-livecd
	$(INSTALL) -D -m 755 $(AGENT) $(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-agent
	$(INSTALL) -D -m 755 $(LOADER) $(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-hot-loader
	$(INSTALL) -D -m 644 $(PLUGIN) $(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-medium-plugin.so
	$(INSTALL) -D -m 644 man/reorder-livecd.1 $(DESTDIR)$(MANDIR)/man1/reorder-livecd.1
	$(INSTALL) -D -m 644 reorder/completion.bash $(DESTDIR)$(COMPLETIONDIR)/reorder-livecd

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/reorder-livecd $(DESTDIR)$(MANDIR)/man1/reorder-livecd.1 \
		$(DESTDIR)$(COMPLETIONDIR)/reorder-livecd
	rm -f $(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-agent \
		$(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-hot-loader \
		$(DESTDIR)$(LIBDIR)/reorder-livecd/reorder-medium-plugin.so
	-rmdir $(DESTDIR)$(LIBDIR)/reorder-livecd 2>/dev/null

clean:
	rm -rf $(O)

help:
	@sed -n '3,16s/^# \{0,1\}//p' Makefile
