// A guest for tests that tries to leave something behind for the next call, in every place that C has, and says what it finds
// there. Its input is a JSON string of words, which it follows from left to right: see act. The output is what it saw, a JSON object
// with a field for each place.

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#define IMPORT(name) __attribute__((import_module("wrun_v1"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))
#define APART __attribute__((noinline))

IMPORT("input_read") int32_t input_read(void *ptr, uint32_t cap, uint32_t off);
IMPORT("output_write") int32_t output_write(const void *ptr, uint32_t len);
IMPORT("result_read") int32_t result_read(void *ptr, uint32_t cap, uint32_t off);
IMPORT("log") int64_t wrun_log(const void *ptr, uint32_t len);
IMPORT("clock") int64_t wrun_clock(const void *ptr, uint32_t len);

EXPORT("wrun_abi_1") void wrun_abi_1(void) {}

static const uint32_t page = 65536;

// The report, which grows by a field at a time.

static char report[16384];
static size_t length;

static void append(const char *format, ...) {
	va_list list;
	va_start(list, format);
	length += vsnprintf(report + length, sizeof report - length, format, list);
	va_end(list);
}

// hash depends on every one of n bytes, a multiple of 4, whatever they are.
static uint32_t hash(const volatile void *at, size_t n) {
	uint32_t h = 2166136261;
	for (const volatile uint32_t *p = at, *end = p + n / 4; p < end; p++) {
		h = (h ^ *p) * 16777619;
		h ^= h >> 15;
	}
	return h;
}

// The places, each with what leaves something there and what looks.

static APART void leave_stack(void) { memset(alloca(24000), 'L', 24000); }
static APART void look_stack(void) { append("%08x", hash(alloca(16000), 16000)); }

static int variable = 1;
static void leave_variable(void) { variable += 41; }
static void look_variable(void) { append("%d", variable); }

static _Thread_local int of_thread = 1;
static void leave_thread(void) { of_thread += 41; }
static void look_thread(void) { append("%d", of_thread); }

static int __attribute__((address_space(1))) global; // of WebAssembly, not in memory
static void leave_global(void) { global += 41; }
static void look_global(void) { append("%d", global); }

static const char *one(void) { return "one"; }
static const char *two(void) { return "two"; }
static const char *(*volatile pointer)(void) = one;
static void leave_pointer(void) { pointer = two; }
static void look_pointer(void) { append("%s", pointer()); }

static void leave_errno(void) { errno = ERANGE; }
static void look_errno(void) { append("%d", errno); }

static char *volatile kept[8];
static void leave_heap(void) {
	for (int i = 0; i < 8; i++) {
		kept[i] = memset(malloc(1000), 'L', 1000);
	}
	for (int i = 0; i < 8; i += 2) {
		free(kept[i]);
	}
}
static void look_heap(void) {
	void *p = malloc(1000);
	append("%p %08x", p, hash(p, 1000));
	free(p);
}

static void leave_env(void) { setenv("LEFT", "behind", 1); }
static void look_env(void) { append("%s", getenv("LEFT") ? getenv("LEFT") : "-"); }

static void at_exit(void) { printf("left to exit;"); }
static void leave_exit(void) { atexit(at_exit); }

static void leave_stdout(void) { printf("left in a buffer;"); }
static void look_stdout(void) {
	printf("looked;");
	append("%d", fflush(stdout));
	clearerr(stdout);
}

static void leave_rand(void) { srand(rand() + 41); }
static void look_rand(void) { append("%d", rand()); }

static void leave_strtok(void) {
	static char words[] = "left-behind-here";
	strtok(words, "-");
}
static void look_strtok(void) {
	char *word = strtok(NULL, "-");
	append("%s", word ? word : "-");
}

static void leave_locale(void) { setlocale(LC_ALL, "C.UTF-8"); }
static void look_locale(void) { append("%s", setlocale(LC_ALL, NULL)); }

static void look_folder(void) {
	char path[100] = "";
	int failed = chdir("/left");
	append("%d %s", failed, getcwd(path, sizeof path) ? path : "-");
}

static void leave_clock(void) {
	struct timespec hour = {.tv_sec = 3600};
	nanosleep(&hour, NULL);
}
static void look_clock(void) {
	struct timespec wall, mono;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	append("%lld.%09ld %lld.%09ld", wall.tv_sec, wall.tv_nsec, mono.tv_sec, mono.tv_nsec);
}

static void leave_random(void) {
	char drawn[99];
	getentropy(drawn, sizeof drawn);
}
static void look_random(void) {
	uint64_t drawn = 0;
	append("%d %016llx", getentropy(&drawn, sizeof drawn), drawn);
}

// leave_result has the host keep a result, and uses up the lines of log that a call has.
static void leave_result(void) {
	static const char line[] = "\xa1\x02\x64left";
	for (int i = 0; i < 1001; i++) {
		wrun_log(line, sizeof line - 1);
	}
}
static void look_result(void) {
	static const char line[] = "\xa1\x02\x66looked";
	uint32_t found[16] = {0};
	int n = result_read(found, sizeof found, 0);
	append("%d %08x %d", n, hash(found, sizeof found), wrun_log(line, sizeof line - 1) >= 0);
}

static void leave_files(void) {
	fflush(stdout);
	fcntl(0, F_SETFL, O_NONBLOCK);
	(void)!__wasi_fd_renumber(1, 4); // which answers ENOSYS
	close(1);
	close(2);
}
static void look_files(void) {
	for (int fd = 0; fd < 5; fd++) {
		__wasi_fdstat_t s = {0};
		int failed = __wasi_fd_fdstat_get(fd, &s);
		append("%d:%d:%d ", failed, s.fs_filetype, s.fs_flags);
	}
}

static void look_pages(void) {
	for (uint32_t i = 0; i < __builtin_wasm_memory_size(0); i++) {
		append("%08x ", hash((void *)(i * page), page));
	}
}

static int sunk; // by how much the stack pointer is lower when the call returns
static void leave_pointer_of_stack(void) { sunk = 4096; }
static void look_pointer_of_stack(void) { append("%p", __builtin_frame_address(0)); }

static const struct place {
	const char *name;
	void (*leave)(void), (*look)(void);
} places[] = {
	{"stack", leave_stack, look_stack},
	{"errno", leave_errno, look_errno},
	{"pages", NULL, look_pages},
	{"stack pointer", leave_pointer_of_stack, look_pointer_of_stack},
	{"variable", leave_variable, look_variable},
	{"thread", leave_thread, look_thread},
	{"global", leave_global, look_global},
	{"pointer", leave_pointer, look_pointer},
	{"heap", leave_heap, look_heap},
	{"env", leave_env, look_env},
	{"exit", leave_exit, NULL},
	{"rand", leave_rand, look_rand},
	{"strtok", leave_strtok, look_strtok},
	{"locale", leave_locale, look_locale},
	{"folder", NULL, look_folder},
	{"clock", leave_clock, look_clock},
	{"random", leave_random, look_random},
	{"result", leave_result, look_result},
	{"stdout", leave_stdout, look_stdout},
	{"files", leave_files, look_files},
};
static const int count = sizeof places / sizeof *places;

static void leave(void) {
	for (int i = 0; i < count; i++) {
		if (places[i].leave) {
			places[i].leave();
		}
	}
	errno = ERANGE; // which the others have changed
}

static void look(void) {
	length = 0;
	for (int i = 0; i < count; i++) {
		if (places[i].look) {
			append("%s\"%s\":\"", length ? "," : "{", places[i].name);
			places[i].look();
			append("\"");
		}
	}
	append("}");
}

// widen grows the memory by 4 MiB and says how much of that is not zero.
static void widen(void) {
	uint32_t at = __builtin_wasm_memory_grow(0, 64) * page, dirty = 0;
	for (uint32_t i = 0; i < 64 * page / 8; i++) {
		dirty += ((uint64_t *)at)[i] != 0;
	}
	length = 0;
	append("{\"at\":%u,\"dirty\":%u}", at, dirty);
}

// grow fills 8 MiB more.
static void grow(void) { memset((void *)(__builtin_wasm_memory_grow(0, 128) * page), 'L', 128 * page); }

// What a call may end with. Each returns the status of wrun_invoke, if it returns.

static int32_t answer(const void *head, uint32_t n, const void *body, uint32_t len) {
	output_write(head, n);
	output_write(body, len);
	return 0;
}

static int32_t answer_report(void) {
	const unsigned char head[] = {0xa1, 0x01, 0x59, length >> 8, length};
	const unsigned char mid[] = {0xa1, 0x01, 0x58, length};
	const unsigned char tiny[] = {0xa1, 0x01, 0x40 + length};
	if (length < 24) {
		return answer(tiny, 3, report, length);
	}
	return length < 256 ? answer(mid, 4, report, length) : answer(head, 5, report, length);
}

static int32_t fail(void) { return answer("\xa1\x02\xa2\x01\x0a\x02\x64", 7, "left", 4); }

static int32_t flood(void) {
	while (output_write(report, sizeof report) == 0) {
	}
	return 0;
}

static int32_t hungry(void) {
	while (__builtin_wasm_memory_grow(0, 16) != (size_t)-1) {
	}
	__builtin_trap();
}

static int32_t spin(void) {
	for (volatile int i = 0;; i++) {
	}
}

static int recurse(int n);
static int (*volatile deeper)(int) = recurse;
static int recurse(int n) { return deeper(n + 1) + n; }

static int32_t end(const char *word) {
	static void (*volatile null)(void);
	if (!strcmp(word, "fail")) {
		return fail();
	} else if (!strcmp(word, "status")) {
		return 7;
	} else if (!strcmp(word, "trap")) {
		__builtin_trap();
	} else if (!strcmp(word, "nil")) {
		null();
	} else if (!strcmp(word, "exit")) {
		exit(0);
	} else if (!strcmp(word, "quit")) {
		_Exit(3);
	} else if (!strcmp(word, "spin")) {
		return spin();
	} else if (!strcmp(word, "recurse")) {
		return recurse(1);
	} else if (!strcmp(word, "flood")) {
		return flood();
	} else if (!strcmp(word, "hungry")) {
		return hungry();
	} else if (!strcmp(word, "misuse")) {
		return input_read((void *)-16, 32, 0);
	}
	return 1;
}

// act follows the words and ends as the last one says, or with the report.
static int32_t act(char *words) {
	while (*words) {
		size_t n = strcspn(words, " ");
		char *word = words;
		words += n + (words[n] == ' ');
		word[n] = 0;
		if (!strcmp(word, "leave")) {
			leave();
		} else if (!strcmp(word, "look")) {
			look();
		} else if (!strcmp(word, "grow")) {
			grow();
		} else if (!strcmp(word, "ask")) {
			wrun_clock("\xa0", 1);
		} else if (!strcmp(word, "widen")) {
			widen();
		} else {
			return end(word);
		}
	}
	if (length == 0) {
		append("{}");
	}
	return answer_report();
}

static APART int32_t invoke(uint32_t input_len) {
	static char request[256];
	input_read(request, sizeof request, 0);
	request[input_len - 1] = 0; // in place of the last quote
	return act(request + (request[10] == 0x58 ? 13 : 12)); // behind the tool's name, the length and the first quote
}

// wrun_invoke has no frame of its own, which would put the stack pointer back.
EXPORT("wrun_invoke") int32_t wrun_invoke(uint32_t input_len) {
	int32_t status = invoke(input_len);
	__asm__ volatile(".globaltype __stack_pointer, i32\n"
	                 "global.get __stack_pointer\nlocal.get %0\ni32.sub\nglobal.set __stack_pointer" ::"r"(sunk));
	return status;
}
