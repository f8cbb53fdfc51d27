// wrun.h: ABI 1 of wrun in C, for tools that are WebAssembly modules. It is all that a tool needs: the imports, every message of
// every host function, a strict reader and a writer of their encoding, and enough of JSON for a small tool. docs/abi.md of wrun
// says what each function does, which errors it has and what its fields may hold.
//
// A tool is a function that is named in a table, once in the module:
//
//	static bool greet(wrun_text input, wrun_out *output) {
//		wrun_put_string(output, WRUN_STRING("hello"));
//		return true;
//	}
//	WRUN_TOOLS({"greet", greet})
//
// Host functions return false when they fail, and so does a tool: "return false" passes the last error on. Only the functions that
// a tool uses become imports of the module, and these are what its manifest, tool.toml, has to ask for.
//
// Nothing here uses malloc. Whatever is read in a call lies in one piece of memory of WRUN_MEMORY bytes and stays there until the
// call ends, or until wrun_release; the output has WRUN_OUTPUT bytes. What does not fit fails, and is never cut. Each call begins
// with a clean copy of the memory, so that nothing has to be given back. To have more, define either of them before the header is
// included, in all files alike.

#ifndef WRUN_H
#define WRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef WRUN_MEMORY
#define WRUN_MEMORY (4u << 20)
#endif
#ifndef WRUN_OUTPUT
#define WRUN_OUTPUT (256u << 10)
#endif
_Static_assert(WRUN_OUTPUT + 64 <= WRUN_MEMORY, "a reply is put together in WRUN_MEMORY");

#define WRUN_IMPORT(name) __attribute__((import_module("wrun_v1"), import_name(name)))
#define WRUN_EXPORT(name) __attribute__((export_name(name)))

WRUN_IMPORT("input_read") int32_t wrun_input_read(void *ptr, uint32_t cap, uint32_t off);
WRUN_IMPORT("output_write") int32_t wrun_output_write(const void *ptr, uint32_t len);
WRUN_IMPORT("result_read") int32_t wrun_result_read(void *ptr, uint32_t cap, uint32_t off);

// ---- Text and memory

// wrun_text is text in UTF-8, or bytes. No zero ends it.
typedef struct wrun_text {
	const char *at;
	size_t len;
} wrun_text;

typedef struct wrun_texts {
	wrun_text *at;
	size_t len;
} wrun_texts;

// WRUN_STRING is a literal as a text.
#define WRUN_STRING(literal) ((wrun_text){"" literal, sizeof(literal) - 1})

static inline bool wrun_equal(wrun_text a, wrun_text b) { return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0); }

// wrun_why says why bytes are not a message.
typedef enum wrun_why {
	WRUN_IN_ORDER,
	WRUN_TRUNCATED,
	WRUN_TRAILING,
	WRUN_DUPLICATE_KEY,
	WRUN_UNKNOWN_KEY,
	WRUN_INDEFINITE,
	WRUN_TAG,
	WRUN_NESTING,
	WRUN_INVALID_UTF8,
	WRUN_WRONG_TYPE,
	WRUN_MALFORMED,
	WRUN_NOT_DETERMINISTIC,
	WRUN_NO_ROOM, // they may be one: there is not enough memory to tell
} wrun_why;

// wrun_memory is what is read in a call, and wrun_used how much of it is in use.
__attribute__((weak, aligned(16))) uint8_t wrun_memory[WRUN_MEMORY];
__attribute__((weak)) size_t wrun_used;

// wrun_alloc returns zeroed memory for as long as the call lasts, NULL when there is no room for it.
static inline void *wrun_alloc(size_t size) {
	size_t at = (wrun_used + 15) & ~(size_t)15;
	if (at > WRUN_MEMORY || size > WRUN_MEMORY - at) {
		return NULL;
	}
	wrun_used = at + size;
	return memset(wrun_memory + at, 0, size);
}

// wrun_mark and wrun_release give back what was read in between. Nothing of that may be used any more.
static inline size_t wrun_mark(void) { return wrun_used; }
static inline void wrun_release(size_t mark) {
	if (mark < wrun_used) {
		wrun_used = mark;
	}
}

// wrun_utf8 says whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
static inline bool wrun_utf8(const char *at, size_t len) {
	const uint8_t *p = (const uint8_t *)at, *end = p + len;
	while (p < end) {
		uint8_t first = *p++;
		if (first < 0x80) {
			continue;
		}
		unsigned more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
		if (first < 0xc2 || first > 0xf4 || (size_t)(end - p) < more) {
			return false;
		}
		uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80, high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
		if (*p < low || *p > high) {
			return false;
		}
		for (unsigned i = 1; i < more; i++) {
			if ((p[i] & 0xc0) != 0x80) {
				return false;
			}
		}
		p += more;
	}
	return true;
}

// ---- Messages

// A message is a struct, and a table of its fields in the order of their keys.

enum { WRUN_UINT, WRUN_INT, WRUN_BOOL, WRUN_TEXT, WRUN_BYTES, WRUN_TEXTS, WRUN_LIST, WRUN_POINTER };

struct wrun_message;

typedef struct wrun_field {
	uint8_t key, kind;
	bool optional; // left out when it is zero
	uint16_t offset;
	uint64_t most;                 // of a WRUN_UINT; of a WRUN_POINTER 1 where an empty map is something else than none
	const struct wrun_message *of; // what a WRUN_LIST has, or a WRUN_POINTER leads to
} wrun_field;

typedef struct wrun_message {
	const wrun_field *fields;
	uint8_t count;
	uint16_t size; // of the struct
} wrun_message;

#define WRUN_MUST(type, key, kind, name, most, of) {key, kind, false, offsetof(type, name), most, of}
#define WRUN_MAY(type, key, kind, name, most, of) {key, kind, true, offsetof(type, name), most, of}
#define WRUN_MESSAGE(name) \
	static const wrun_message wrun_##name##_message = {wrun_##name##_fields, sizeof wrun_##name##_fields / sizeof(wrun_field), sizeof(wrun_##name)}
#define WRUN_EMPTY_MESSAGE(name) static const wrun_message wrun_##name##_message = {NULL, 0, sizeof(wrun_##name)}

// In what follows a ? says that a field may be left zero: then it is not sent, and was not there when it was read. A text marked as
// bytes need not be UTF-8.

typedef struct wrun_error {
	uint64_t code;           // see the table of errors
	wrun_text message;       // ? for people, at most 4,096 bytes
	uint64_t retry;          // ? 1 never, 2 safe, 3 after; absent means never
	uint64_t effect;         // ? 1 none, 2 unknown, 3 applied; absent means none
	uint64_t retry_after_ms; // ? how long to wait, with retry 3
	wrun_text detail;        // ? a short word of the function's or the tool's own, at most 64 bytes
} wrun_error;
static const wrun_field wrun_error_fields[] = {
	WRUN_MUST(wrun_error, 1, WRUN_UINT, code, UINT16_MAX, NULL),
	WRUN_MAY(wrun_error, 2, WRUN_TEXT, message, 0, NULL),
	WRUN_MAY(wrun_error, 3, WRUN_UINT, retry, UINT8_MAX, NULL),
	WRUN_MAY(wrun_error, 4, WRUN_UINT, effect, UINT8_MAX, NULL),
	WRUN_MAY(wrun_error, 5, WRUN_UINT, retry_after_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_error, 6, WRUN_TEXT, detail, 0, NULL),
};
WRUN_MESSAGE(error);

typedef struct wrun_request {
	uint64_t abi;    // 1
	wrun_text tool;  // the name of the tool to run, one of the manifest's
	wrun_text input; // bytes: JSON, the very bytes that the caller gave
} wrun_request;
static const wrun_field wrun_request_fields[] = {
	WRUN_MUST(wrun_request, 1, WRUN_UINT, abi, UINT8_MAX, NULL),
	WRUN_MUST(wrun_request, 2, WRUN_TEXT, tool, 0, NULL),
	WRUN_MUST(wrun_request, 3, WRUN_BYTES, input, 0, NULL),
};
WRUN_MESSAGE(request);

typedef struct wrun_reply {
	wrun_text output;      // ? bytes: JSON
	const wrun_error *err; // ? how the tool failed
} wrun_reply;
static const wrun_field wrun_reply_fields[] = {
	WRUN_MAY(wrun_reply, 1, WRUN_BYTES, output, 0, NULL),
	WRUN_MAY(wrun_reply, 2, WRUN_POINTER, err, 0, &wrun_error_message),
};
WRUN_MESSAGE(reply);

typedef struct wrun_header {
	wrun_text name;
	wrun_text value;
} wrun_header;
static const wrun_field wrun_header_fields[] = {
	WRUN_MUST(wrun_header, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MUST(wrun_header, 2, WRUN_TEXT, value, 0, NULL),
};
WRUN_MESSAGE(header);
typedef struct wrun_headers { wrun_header *at; size_t len; } wrun_headers;

typedef struct wrun_log_request {
	uint64_t level;    // ? 1 debug, 2 info, 3 warn, 4 error; absent means info
	wrun_text message;
} wrun_log_request;
static const wrun_field wrun_log_request_fields[] = {
	WRUN_MAY(wrun_log_request, 1, WRUN_UINT, level, UINT8_MAX, NULL),
	WRUN_MUST(wrun_log_request, 2, WRUN_TEXT, message, 0, NULL),
};
WRUN_MESSAGE(log_request);

typedef struct wrun_log_reply {
	char none;
} wrun_log_reply;
WRUN_EMPTY_MESSAGE(log_reply);

typedef struct wrun_progress_request {
	uint64_t done;     // ? how much is done, in units of the tool's choice
	uint64_t total;    // ? how much there is to do; absent when that is not known
	wrun_text message; // ? what is being done
} wrun_progress_request;
static const wrun_field wrun_progress_request_fields[] = {
	WRUN_MAY(wrun_progress_request, 1, WRUN_UINT, done, UINT64_MAX, NULL),
	WRUN_MAY(wrun_progress_request, 2, WRUN_UINT, total, UINT64_MAX, NULL),
	WRUN_MAY(wrun_progress_request, 3, WRUN_TEXT, message, 0, NULL),
};
WRUN_MESSAGE(progress_request);

typedef struct wrun_progress_reply {
	char none;
} wrun_progress_reply;
WRUN_EMPTY_MESSAGE(progress_reply);

typedef struct wrun_clock_request {
	char none;
} wrun_clock_request;
WRUN_EMPTY_MESSAGE(clock_request);

typedef struct wrun_clock_reply {
	int64_t unix_nano; // nanoseconds since 1970-01-01 UTC
} wrun_clock_reply;
static const wrun_field wrun_clock_reply_fields[] = {
	WRUN_MUST(wrun_clock_reply, 1, WRUN_INT, unix_nano, 0, NULL),
};
WRUN_MESSAGE(clock_reply);

typedef struct wrun_random_request {
	uint64_t n; // how many bytes, 1 to 4,096
} wrun_random_request;
static const wrun_field wrun_random_request_fields[] = {
	WRUN_MUST(wrun_random_request, 1, WRUN_UINT, n, UINT32_MAX, NULL),
};
WRUN_MESSAGE(random_request);

typedef struct wrun_random_reply {
	wrun_text bytes; // bytes: n of them
} wrun_random_reply;
static const wrun_field wrun_random_reply_fields[] = {
	WRUN_MUST(wrun_random_reply, 1, WRUN_BYTES, bytes, 0, NULL),
};
WRUN_MESSAGE(random_reply);

typedef struct wrun_http_request {
	wrun_text method;
	wrun_text url;           // absolute, http or https, without user information or fragment, at most 8,192 bytes
	wrun_headers headers;    // ? sent in this order, behind the host's own
	wrun_text body;          // ? bytes: sent as it is
	uint64_t timeout_ms;     // ? of the whole exchange; absent means 30,000
	uint64_t redirects;      // ? how many are followed, at most 5
	bool decompress;         // ? ask for gzip, and undo it
	wrun_text body_artifact; // ? an artifact that is sent in place of the body
	uint64_t to_artifact;    // ? the longest body of a reply that is kept as an artifact, in bytes
} wrun_http_request;
static const wrun_field wrun_http_request_fields[] = {
	WRUN_MUST(wrun_http_request, 1, WRUN_TEXT, method, 0, NULL),
	WRUN_MUST(wrun_http_request, 2, WRUN_TEXT, url, 0, NULL),
	WRUN_MAY(wrun_http_request, 3, WRUN_LIST, headers, 0, &wrun_header_message),
	WRUN_MAY(wrun_http_request, 4, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_http_request, 5, WRUN_UINT, timeout_ms, UINT32_MAX, NULL),
	WRUN_MAY(wrun_http_request, 6, WRUN_UINT, redirects, UINT8_MAX, NULL),
	WRUN_MAY(wrun_http_request, 7, WRUN_BOOL, decompress, 0, NULL),
	WRUN_MAY(wrun_http_request, 8, WRUN_TEXT, body_artifact, 0, NULL),
	WRUN_MAY(wrun_http_request, 9, WRUN_UINT, to_artifact, UINT64_MAX, NULL),
};
WRUN_MESSAGE(http_request);

typedef struct wrun_http_reply {
	uint64_t status;      // 200 to 599
	wrun_headers headers; // ? sorted by name, names in canonical form (Content-Type)
	wrun_text body;       // ? bytes: as the server sent it; a content encoding is not undone unless that was asked for
	wrun_text artifact;   // ? the body's
	uint64_t size;        // ? of the artifact, in bytes
	wrun_text url;        // ? where the reply came from after redirects
} wrun_http_reply;
static const wrun_field wrun_http_reply_fields[] = {
	WRUN_MUST(wrun_http_reply, 1, WRUN_UINT, status, UINT16_MAX, NULL),
	WRUN_MAY(wrun_http_reply, 2, WRUN_LIST, headers, 0, &wrun_header_message),
	WRUN_MAY(wrun_http_reply, 3, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_http_reply, 4, WRUN_TEXT, artifact, 0, NULL),
	WRUN_MAY(wrun_http_reply, 5, WRUN_UINT, size, UINT64_MAX, NULL),
	WRUN_MAY(wrun_http_reply, 6, WRUN_TEXT, url, 0, NULL),
};
WRUN_MESSAGE(http_reply);

typedef struct wrun_approve_request {
	wrun_text text;      // what the person is asked, 1 to 4,096 bytes, not blank
	wrun_text detail;    // ? bytes: JSON that is shown beneath it, at most 16,384 bytes
	uint64_t expires_ms; // ? how long a yes is accepted, from the question on; absent means for ever
} wrun_approve_request;
static const wrun_field wrun_approve_request_fields[] = {
	WRUN_MUST(wrun_approve_request, 1, WRUN_TEXT, text, 0, NULL),
	WRUN_MAY(wrun_approve_request, 2, WRUN_BYTES, detail, 0, NULL),
	WRUN_MAY(wrun_approve_request, 3, WRUN_UINT, expires_ms, UINT64_MAX, NULL),
};
WRUN_MESSAGE(approve_request);

typedef struct wrun_approve_reply {
	wrun_text by;   // who said yes
	wrun_text note; // ? what they said besides
} wrun_approve_reply;
static const wrun_field wrun_approve_reply_fields[] = {
	WRUN_MUST(wrun_approve_reply, 1, WRUN_TEXT, by, 0, NULL),
	WRUN_MAY(wrun_approve_reply, 2, WRUN_TEXT, note, 0, NULL),
};
WRUN_MESSAGE(approve_reply);

typedef struct wrun_sleep_request {
	uint64_t ms;   // ? how long, 1 to 31,622,400,000 milliseconds
	int64_t until; // ? or when to wake, in nanoseconds since 1970-01-01 UTC
} wrun_sleep_request;
static const wrun_field wrun_sleep_request_fields[] = {
	WRUN_MAY(wrun_sleep_request, 1, WRUN_UINT, ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_sleep_request, 2, WRUN_INT, until, 0, NULL),
};
WRUN_MESSAGE(sleep_request);

typedef struct wrun_sleep_reply {
	char none;
} wrun_sleep_reply;
WRUN_EMPTY_MESSAGE(sleep_reply);

typedef struct wrun_tool_call_request {
	wrun_text tool;  // its full name, the module's name and the tool's with a point between them
	wrun_text input; // bytes: JSON
} wrun_tool_call_request;
static const wrun_field wrun_tool_call_request_fields[] = {
	WRUN_MUST(wrun_tool_call_request, 1, WRUN_TEXT, tool, 0, NULL),
	WRUN_MUST(wrun_tool_call_request, 2, WRUN_BYTES, input, 0, NULL),
};
WRUN_MESSAGE(tool_call_request);

typedef struct wrun_tool_call_reply {
	wrun_text output; // bytes: JSON, the very bytes that the tool wrote
} wrun_tool_call_reply;
static const wrun_field wrun_tool_call_reply_fields[] = {
	WRUN_MUST(wrun_tool_call_reply, 1, WRUN_BYTES, output, 0, NULL),
};
WRUN_MESSAGE(tool_call_reply);

typedef struct wrun_secret_has_request {
	wrun_text name; // the secret's: lower-case letters, digits, and inner hyphens and underscores, at most 64
} wrun_secret_has_request;
static const wrun_field wrun_secret_has_request_fields[] = {
	WRUN_MUST(wrun_secret_has_request, 1, WRUN_TEXT, name, 0, NULL),
};
WRUN_MESSAGE(secret_has_request);

typedef struct wrun_secret_has_reply {
	bool has; // ? the secret is granted, and that its value could be read just now
} wrun_secret_has_reply;
static const wrun_field wrun_secret_has_reply_fields[] = {
	WRUN_MAY(wrun_secret_has_reply, 1, WRUN_BOOL, has, 0, NULL),
};
WRUN_MESSAGE(secret_has_reply);

typedef struct wrun_config_get_request {
	wrun_text key; // the form of a secret's name
} wrun_config_get_request;
static const wrun_field wrun_config_get_request_fields[] = {
	WRUN_MUST(wrun_config_get_request, 1, WRUN_TEXT, key, 0, NULL),
};
WRUN_MESSAGE(config_get_request);

typedef struct wrun_config_get_reply {
	bool found;      // ? the operator set the key
	wrun_text value; // ? text, at most MaxConfigValue bytes
} wrun_config_get_reply;
static const wrun_field wrun_config_get_reply_fields[] = {
	WRUN_MAY(wrun_config_get_reply, 1, WRUN_BOOL, found, 0, NULL),
	WRUN_MAY(wrun_config_get_reply, 2, WRUN_TEXT, value, 0, NULL),
};
WRUN_MESSAGE(config_get_reply);

typedef struct wrun_kv_get_request {
	wrun_text store; // ? the store's name, which has the form of a module's; "" means the module's own
	wrun_text key;   // text, 1 to MaxKVKey bytes
} wrun_kv_get_request;
static const wrun_field wrun_kv_get_request_fields[] = {
	WRUN_MAY(wrun_kv_get_request, 1, WRUN_TEXT, store, 0, NULL),
	WRUN_MUST(wrun_kv_get_request, 2, WRUN_TEXT, key, 0, NULL),
};
WRUN_MESSAGE(kv_get_request);

typedef struct wrun_kv_get_reply {
	bool found;       // ? the key is there
	wrun_text value;  // ? bytes: the key's
	uint64_t version; // ? what kv_cas wants to be told: 1 or more, and 0 for a key that is not there
} wrun_kv_get_reply;
static const wrun_field wrun_kv_get_reply_fields[] = {
	WRUN_MAY(wrun_kv_get_reply, 1, WRUN_BOOL, found, 0, NULL),
	WRUN_MAY(wrun_kv_get_reply, 2, WRUN_BYTES, value, 0, NULL),
	WRUN_MAY(wrun_kv_get_reply, 3, WRUN_UINT, version, UINT64_MAX, NULL),
};
WRUN_MESSAGE(kv_get_reply);

typedef struct wrun_kv_put_request {
	wrun_text store; // ? store and Key are as for kv_get
	wrun_text key;
	wrun_text value; // bytes: at most MaxKVValue bytes
} wrun_kv_put_request;
static const wrun_field wrun_kv_put_request_fields[] = {
	WRUN_MAY(wrun_kv_put_request, 1, WRUN_TEXT, store, 0, NULL),
	WRUN_MUST(wrun_kv_put_request, 2, WRUN_TEXT, key, 0, NULL),
	WRUN_MUST(wrun_kv_put_request, 3, WRUN_BYTES, value, 0, NULL),
};
WRUN_MESSAGE(kv_put_request);

typedef struct wrun_kv_put_reply {
	uint64_t version; // the one that the key has now
} wrun_kv_put_reply;
static const wrun_field wrun_kv_put_reply_fields[] = {
	WRUN_MUST(wrun_kv_put_reply, 1, WRUN_UINT, version, UINT64_MAX, NULL),
};
WRUN_MESSAGE(kv_put_reply);

typedef struct wrun_kv_cas_request {
	wrun_text store; // ? store, Key and Value are as for kv_put
	wrun_text key;
	wrun_text value; // bytes
	uint64_t expect; // ? the version that the key must have; 0 for a key that must not be there
} wrun_kv_cas_request;
static const wrun_field wrun_kv_cas_request_fields[] = {
	WRUN_MAY(wrun_kv_cas_request, 1, WRUN_TEXT, store, 0, NULL),
	WRUN_MUST(wrun_kv_cas_request, 2, WRUN_TEXT, key, 0, NULL),
	WRUN_MUST(wrun_kv_cas_request, 3, WRUN_BYTES, value, 0, NULL),
	WRUN_MAY(wrun_kv_cas_request, 4, WRUN_UINT, expect, UINT64_MAX, NULL),
};
WRUN_MESSAGE(kv_cas_request);

typedef struct wrun_kv_delete_request {
	wrun_text store; // ? store and Key are as for kv_get
	wrun_text key;
} wrun_kv_delete_request;
static const wrun_field wrun_kv_delete_request_fields[] = {
	WRUN_MAY(wrun_kv_delete_request, 1, WRUN_TEXT, store, 0, NULL),
	WRUN_MUST(wrun_kv_delete_request, 2, WRUN_TEXT, key, 0, NULL),
};
WRUN_MESSAGE(kv_delete_request);

typedef struct wrun_kv_delete_reply {
	bool found; // ? the key was there
} wrun_kv_delete_reply;
static const wrun_field wrun_kv_delete_reply_fields[] = {
	WRUN_MAY(wrun_kv_delete_reply, 1, WRUN_BOOL, found, 0, NULL),
};
WRUN_MESSAGE(kv_delete_reply);

typedef struct wrun_kv_list_request {
	wrun_text store;  // ? as for kv_get
	wrun_text prefix; // ? what the keys begin with, at most MaxKVKey bytes; "" lists all
	wrun_text after;  // ? after begins behind this key: the last one of the answer before
	uint64_t limit;   // ? how many keys are listed at most; 0 means DefaultKVList. Over MaxKVList it is Invalid
	bool values;      // ? the values are wanted too
} wrun_kv_list_request;
static const wrun_field wrun_kv_list_request_fields[] = {
	WRUN_MAY(wrun_kv_list_request, 1, WRUN_TEXT, store, 0, NULL),
	WRUN_MAY(wrun_kv_list_request, 2, WRUN_TEXT, prefix, 0, NULL),
	WRUN_MAY(wrun_kv_list_request, 3, WRUN_TEXT, after, 0, NULL),
	WRUN_MAY(wrun_kv_list_request, 4, WRUN_UINT, limit, UINT32_MAX, NULL),
	WRUN_MAY(wrun_kv_list_request, 5, WRUN_BOOL, values, 0, NULL),
};
WRUN_MESSAGE(kv_list_request);

typedef struct wrun_kv_item {
	wrun_text key;
	uint64_t version;
	uint64_t size;    // ? the value's length in bytes
	wrun_text value;  // ? bytes: the key's, where values were asked for
} wrun_kv_item;
static const wrun_field wrun_kv_item_fields[] = {
	WRUN_MUST(wrun_kv_item, 1, WRUN_TEXT, key, 0, NULL),
	WRUN_MUST(wrun_kv_item, 2, WRUN_UINT, version, UINT64_MAX, NULL),
	WRUN_MAY(wrun_kv_item, 3, WRUN_UINT, size, UINT32_MAX, NULL),
	WRUN_MAY(wrun_kv_item, 4, WRUN_BYTES, value, 0, NULL),
};
WRUN_MESSAGE(kv_item);
typedef struct wrun_kv_items { wrun_kv_item *at; size_t len; } wrun_kv_items;

typedef struct wrun_kv_list_reply {
	wrun_kv_items items; // ? the keys in the order of their bytes
	bool more;           // ? there are others behind them: the limit or MaxKVListBytes was reached
} wrun_kv_list_reply;
static const wrun_field wrun_kv_list_reply_fields[] = {
	WRUN_MAY(wrun_kv_list_reply, 1, WRUN_LIST, items, 0, &wrun_kv_item_message),
	WRUN_MAY(wrun_kv_list_reply, 2, WRUN_BOOL, more, 0, NULL),
};
WRUN_MESSAGE(kv_list_reply);

typedef struct wrun_artifact_put_request {
	wrun_text body; // bytes: at most MaxArtifactPart bytes, and may be empty
	wrun_text name; // ? what people are shown, such as "report.pdf": text on one line, at most MaxArtifactName bytes
} wrun_artifact_put_request;
static const wrun_field wrun_artifact_put_request_fields[] = {
	WRUN_MUST(wrun_artifact_put_request, 1, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_artifact_put_request, 2, WRUN_TEXT, name, 0, NULL),
};
WRUN_MESSAGE(artifact_put_request);

typedef struct wrun_artifact_put_reply {
	wrun_text artifact; // the SHA-256 of the body
	uint64_t size;      // ? the body's length in bytes
} wrun_artifact_put_reply;
static const wrun_field wrun_artifact_put_reply_fields[] = {
	WRUN_MUST(wrun_artifact_put_reply, 1, WRUN_TEXT, artifact, 0, NULL),
	WRUN_MAY(wrun_artifact_put_reply, 2, WRUN_UINT, size, UINT64_MAX, NULL),
};
WRUN_MESSAGE(artifact_put_reply);

typedef struct wrun_artifact_get_request {
	wrun_text artifact;
	uint64_t offset;    // ? where to begin, in bytes
	uint64_t length;    // ? how much is wanted at most, in bytes; 0 means as much as there is, at most MaxArtifactPart
} wrun_artifact_get_request;
static const wrun_field wrun_artifact_get_request_fields[] = {
	WRUN_MUST(wrun_artifact_get_request, 1, WRUN_TEXT, artifact, 0, NULL),
	WRUN_MAY(wrun_artifact_get_request, 2, WRUN_UINT, offset, UINT64_MAX, NULL),
	WRUN_MAY(wrun_artifact_get_request, 3, WRUN_UINT, length, UINT64_MAX, NULL),
};
WRUN_MESSAGE(artifact_get_request);

typedef struct wrun_artifact_get_reply {
	wrun_text body; // ? bytes: what was asked for, shorter at the end of the artifact
	uint64_t size;  // ? the length of the whole artifact, in bytes
} wrun_artifact_get_reply;
static const wrun_field wrun_artifact_get_reply_fields[] = {
	WRUN_MAY(wrun_artifact_get_reply, 1, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_artifact_get_reply, 2, WRUN_UINT, size, UINT64_MAX, NULL),
};
WRUN_MESSAGE(artifact_get_reply);

typedef struct wrun_artifact_stat_request {
	wrun_text artifact;
} wrun_artifact_stat_request;
static const wrun_field wrun_artifact_stat_request_fields[] = {
	WRUN_MUST(wrun_artifact_stat_request, 1, WRUN_TEXT, artifact, 0, NULL),
};
WRUN_MESSAGE(artifact_stat_request);

typedef struct wrun_artifact_stat_reply {
	bool found;    // ? the run has the artifact
	uint64_t size; // ? its length in bytes
} wrun_artifact_stat_reply;
static const wrun_field wrun_artifact_stat_reply_fields[] = {
	WRUN_MAY(wrun_artifact_stat_reply, 1, WRUN_BOOL, found, 0, NULL),
	WRUN_MAY(wrun_artifact_stat_reply, 2, WRUN_UINT, size, UINT64_MAX, NULL),
};
WRUN_MESSAGE(artifact_stat_reply);

typedef struct wrun_workspace_read_request {
	wrun_text path;
	uint64_t offset; // ? where to begin, in bytes; behind the end there is nothing
	uint64_t length; // ? how much is wanted at most, in bytes; 0 means as much as there is, at most MaxWorkspacePart
} wrun_workspace_read_request;
static const wrun_field wrun_workspace_read_request_fields[] = {
	WRUN_MUST(wrun_workspace_read_request, 1, WRUN_TEXT, path, 0, NULL),
	WRUN_MAY(wrun_workspace_read_request, 2, WRUN_UINT, offset, UINT64_MAX, NULL),
	WRUN_MAY(wrun_workspace_read_request, 3, WRUN_UINT, length, UINT64_MAX, NULL),
};
WRUN_MESSAGE(workspace_read_request);

typedef struct wrun_workspace_read_reply {
	wrun_text body;   // ? bytes: what was asked for, shorter at the end of the file
	uint64_t size;    // ? the length of the whole file, in bytes
	wrun_text digest; // ? the file's SHA-256, 64 lower-case hexadecimal digits, when all of it is in Body
} wrun_workspace_read_reply;
static const wrun_field wrun_workspace_read_reply_fields[] = {
	WRUN_MAY(wrun_workspace_read_reply, 1, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_workspace_read_reply, 2, WRUN_UINT, size, UINT64_MAX, NULL),
	WRUN_MAY(wrun_workspace_read_reply, 3, WRUN_TEXT, digest, 0, NULL),
};
WRUN_MESSAGE(workspace_read_reply);

typedef struct wrun_workspace_write_request {
	wrun_text path;
	wrun_text body;     // ? bytes: what the file holds then, at most MaxWorkspacePart bytes
	wrun_text artifact; // ? an artifact of the run that the file holds then, in place of Body
	wrun_text expect;   // ? the digest that the file must have, or WorkspaceAbsent ("absent"); "" does not mind
} wrun_workspace_write_request;
static const wrun_field wrun_workspace_write_request_fields[] = {
	WRUN_MUST(wrun_workspace_write_request, 1, WRUN_TEXT, path, 0, NULL),
	WRUN_MAY(wrun_workspace_write_request, 2, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_workspace_write_request, 3, WRUN_TEXT, artifact, 0, NULL),
	WRUN_MAY(wrun_workspace_write_request, 4, WRUN_TEXT, expect, 0, NULL),
};
WRUN_MESSAGE(workspace_write_request);

typedef struct wrun_workspace_write_reply {
	wrun_text path;     // the request's
	wrun_text artifact; // the version that was written, an artifact of the run: the SHA-256 of the file
	uint64_t size;      // ? the file's length in bytes
} wrun_workspace_write_reply;
static const wrun_field wrun_workspace_write_reply_fields[] = {
	WRUN_MUST(wrun_workspace_write_reply, 1, WRUN_TEXT, path, 0, NULL),
	WRUN_MUST(wrun_workspace_write_reply, 2, WRUN_TEXT, artifact, 0, NULL),
	WRUN_MAY(wrun_workspace_write_reply, 3, WRUN_UINT, size, UINT64_MAX, NULL),
};
WRUN_MESSAGE(workspace_write_reply);

typedef struct wrun_workspace_list_request {
	wrun_text dir;   // ? the directory to list, a Path; "" is the workspace itself
	bool recursive;  // ? recursive lists what is below its directories as well
	wrun_text after; // ? after begins behind this path: the last one of the answer before
	uint64_t limit;  // ? how many are listed at most; 0 means DefaultWorkspaceList. Over MaxWorkspaceList it is Invalid
} wrun_workspace_list_request;
static const wrun_field wrun_workspace_list_request_fields[] = {
	WRUN_MAY(wrun_workspace_list_request, 1, WRUN_TEXT, dir, 0, NULL),
	WRUN_MAY(wrun_workspace_list_request, 2, WRUN_BOOL, recursive, 0, NULL),
	WRUN_MAY(wrun_workspace_list_request, 3, WRUN_TEXT, after, 0, NULL),
	WRUN_MAY(wrun_workspace_list_request, 4, WRUN_UINT, limit, UINT32_MAX, NULL),
};
WRUN_MESSAGE(workspace_list_request);

typedef struct wrun_workspace_file {
	wrun_text path; // from the workspace on
	wrun_text kind; // "file", "dir", "link" or "other"
	uint64_t size;  // ? a file's length in bytes
} wrun_workspace_file;
static const wrun_field wrun_workspace_file_fields[] = {
	WRUN_MUST(wrun_workspace_file, 1, WRUN_TEXT, path, 0, NULL),
	WRUN_MUST(wrun_workspace_file, 2, WRUN_TEXT, kind, 0, NULL),
	WRUN_MAY(wrun_workspace_file, 3, WRUN_UINT, size, UINT64_MAX, NULL),
};
WRUN_MESSAGE(workspace_file);
typedef struct wrun_workspace_files { wrun_workspace_file *at; size_t len; } wrun_workspace_files;

typedef struct wrun_workspace_list_reply {
	wrun_workspace_files files; // ? in the order of their paths' bytes
	bool more;                  // ? there are others behind them
} wrun_workspace_list_reply;
static const wrun_field wrun_workspace_list_reply_fields[] = {
	WRUN_MAY(wrun_workspace_list_reply, 1, WRUN_LIST, files, 0, &wrun_workspace_file_message),
	WRUN_MAY(wrun_workspace_list_reply, 2, WRUN_BOOL, more, 0, NULL),
};
WRUN_MESSAGE(workspace_list_reply);

typedef struct wrun_workspace_remove_request {
	wrun_text path;
} wrun_workspace_remove_request;
static const wrun_field wrun_workspace_remove_request_fields[] = {
	WRUN_MUST(wrun_workspace_remove_request, 1, WRUN_TEXT, path, 0, NULL),
};
WRUN_MESSAGE(workspace_remove_request);

typedef struct wrun_workspace_remove_reply {
	wrun_text path; // the request's
} wrun_workspace_remove_reply;
static const wrun_field wrun_workspace_remove_reply_fields[] = {
	WRUN_MUST(wrun_workspace_remove_reply, 1, WRUN_TEXT, path, 0, NULL),
};
WRUN_MESSAGE(workspace_remove_reply);

typedef struct wrun_mail_attachment {
	wrun_text name;     // the file's, without a path
	wrun_text type;     // ? a media type; absent means application/octet-stream
	wrun_text body;     // ? bytes
	wrun_text artifact; // ? one of the run, in place of the body
} wrun_mail_attachment;
static const wrun_field wrun_mail_attachment_fields[] = {
	WRUN_MUST(wrun_mail_attachment, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MAY(wrun_mail_attachment, 2, WRUN_TEXT, type, 0, NULL),
	WRUN_MAY(wrun_mail_attachment, 3, WRUN_BYTES, body, 0, NULL),
	WRUN_MAY(wrun_mail_attachment, 4, WRUN_TEXT, artifact, 0, NULL),
};
WRUN_MESSAGE(mail_attachment);
typedef struct wrun_mail_attachments { wrun_mail_attachment *at; size_t len; } wrun_mail_attachments;

typedef struct wrun_mail_send_request {
	wrun_texts to;                     // ? addresses such as ann@example.com, without names
	wrun_texts cc;                     // ? 
	wrun_texts bcc;                    // ? 
	wrun_text subject;                 // one line
	wrun_text text;                    // ? 
	wrun_text html;                    // ? the same for programs that show it
	wrun_text reply_to;                // ? where answers go; absent means the sender
	wrun_mail_attachments attachments; // ? behind the text
	uint64_t timeout_ms;               // ? of the whole exchange; absent means 60,000
} wrun_mail_send_request;
static const wrun_field wrun_mail_send_request_fields[] = {
	WRUN_MAY(wrun_mail_send_request, 1, WRUN_TEXTS, to, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 2, WRUN_TEXTS, cc, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 3, WRUN_TEXTS, bcc, 0, NULL),
	WRUN_MUST(wrun_mail_send_request, 4, WRUN_TEXT, subject, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 5, WRUN_TEXT, text, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 6, WRUN_TEXT, html, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 7, WRUN_TEXT, reply_to, 0, NULL),
	WRUN_MAY(wrun_mail_send_request, 8, WRUN_LIST, attachments, 0, &wrun_mail_attachment_message),
	WRUN_MAY(wrun_mail_send_request, 9, WRUN_UINT, timeout_ms, UINT32_MAX, NULL),
};
WRUN_MESSAGE(mail_send_request);

typedef struct wrun_mail_send_reply {
	wrun_text message_id; // the message's, with its angle brackets
} wrun_mail_send_reply;
static const wrun_field wrun_mail_send_reply_fields[] = {
	WRUN_MUST(wrun_mail_send_reply, 1, WRUN_TEXT, message_id, 0, NULL),
};
WRUN_MESSAGE(mail_send_reply);
// ---- Reading messages

typedef struct wrun_reader {
	const uint8_t *at, *end;
	wrun_why why; // why it is no message; WRUN_IN_ORDER so far
	bool loose;   // it says something otherwise than an encoder has to
} wrun_reader;

static inline bool wrun_stop(wrun_reader *r, wrun_why why) {
	if (r->why == WRUN_IN_ORDER) {
		r->why = why;
	}
	return false;
}

// wrun_head reads the head of an item: its major type, and its number.
static inline bool wrun_head(wrun_reader *r, uint8_t *major, uint64_t *n) {
	if (r->at == r->end) {
		return wrun_stop(r, WRUN_TRUNCATED);
	}
	uint8_t first = *r->at++, info = first & 0x1f;
	*major = first >> 5;
	*n = info;
	if (info < 24) {
		return true;
	}
	if (info > 27) {
		bool lengths = *major >= 2 && *major <= 5;
		return wrun_stop(r, info == 31 && lengths ? WRUN_INDEFINITE : WRUN_MALFORMED);
	}
	size_t size = (size_t)1 << (info - 24);
	if ((size_t)(r->end - r->at) < size) {
		return wrun_stop(r, WRUN_TRUNCATED);
	}
	*n = 0;
	for (size_t i = 0; i < size; i++) {
		*n = *n << 8 | *r->at++;
	}
	if (*major == 7) {
		if (size == 1) {
			return *n >= 32 || wrun_stop(r, WRUN_MALFORMED);
		}
		*n = UINT64_MAX; // a float, and no simple value
		return true;
	}
	if (*n < (size == 1 ? 24 : (uint64_t)1 << (4 * size))) {
		r->loose = true;
	}
	return true;
}

// wrun_well_formed passes over one item and sees that there is one, whatever it says.
static inline bool wrun_well_formed(wrun_reader *r, unsigned depth) {
	uint8_t major;
	uint64_t n;
	if (!wrun_head(r, &major, &n)) {
		return false;
	}
	switch (major) {
	case 2:
	case 3:
		if (n > INT64_MAX) {
			return wrun_stop(r, WRUN_MALFORMED);
		}
		if (n > (size_t)(r->end - r->at)) {
			return wrun_stop(r, WRUN_TRUNCATED);
		}
		r->at += n;
		return true;
	case 4:
	case 5:
		if (depth == 16) {
			return wrun_stop(r, WRUN_NESTING);
		}
		if (n > (major == 4 ? 65536u : 1024u)) {
			return wrun_stop(r, WRUN_MALFORMED);
		}
		for (uint64_t i = 0; i < n * (major - 3); i++) {
			if (!wrun_well_formed(r, depth + 1)) {
				return false;
			}
		}
		return true;
	case 6:
		return wrun_stop(r, WRUN_TAG);
	}
	return true;
}

// wrun_pass passes over the text or bytes that a head has announced.
static inline wrun_text wrun_pass(wrun_reader *r, uint64_t n) {
	wrun_text t = {(const char *)r->at, (size_t)n};
	r->at += n;
	return t;
}

static inline bool wrun_read_map(wrun_reader *r, const wrun_message *m, void *to, uint64_t pairs);

// wrun_read_list reads the items of a list into memory of its own.
static inline bool wrun_read_list(wrun_reader *r, const wrun_field *f, void *to, uint64_t n) {
	size_t size = f->kind == WRUN_TEXTS ? sizeof(wrun_text) : f->of->size;
	uint8_t *items = wrun_alloc((size_t)n * size); // n is at most 65,536
	if (items == NULL) {
		return wrun_stop(r, WRUN_NO_ROOM);
	}
	wrun_text list = {(const char *)items, (size_t)n}; // as all lists are laid out
	memcpy(to, &list, sizeof list);
	r->loose |= f->optional && n == 0;
	for (uint64_t i = 0; i < n; i++) {
		uint8_t major;
		uint64_t number;
		if (!wrun_head(r, &major, &number)) {
			return false;
		}
		if (major == 7 && (number == 22 || number == 23)) { // null, undefined
			r->loose = true;
			continue;
		}
		if (f->kind == WRUN_LIST) {
			if (major != 5) {
				return wrun_stop(r, WRUN_WRONG_TYPE);
			}
			if (!wrun_read_map(r, f->of, items + i * size, number)) {
				return false;
			}
			continue;
		}
		if (major != 3) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		wrun_text t = wrun_pass(r, number);
		if (!wrun_utf8(t.at, t.len)) {
			return wrun_stop(r, WRUN_INVALID_UTF8);
		}
		memcpy(items + i * size, &t, sizeof t);
	}
	return true;
}

// wrun_read_field reads one value. One that a field is left out for is loose, and so is null.
static inline bool wrun_read_field(wrun_reader *r, const wrun_field *f, uint8_t *to) {
	uint8_t major;
	uint64_t n;
	if (!wrun_head(r, &major, &n)) {
		return false;
	}
	if (major == 7 && (n == 22 || n == 23)) {
		r->loose = true;
		return true;
	}
	switch (f->kind) {
	case WRUN_UINT:
		if (major != 0 || n > f->most) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		memcpy(to, &n, sizeof n);
		r->loose |= f->optional && n == 0;
		return true;
	case WRUN_INT: {
		if (major > 1 || n > INT64_MAX) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		int64_t i = major == 0 ? (int64_t)n : -1 - (int64_t)n;
		memcpy(to, &i, sizeof i);
		r->loose |= f->optional && i == 0;
		return true;
	}
	case WRUN_BOOL: {
		if (major != 7 || (n != 20 && n != 21)) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		bool b = n == 21;
		memcpy(to, &b, sizeof b);
		r->loose |= f->optional && !b;
		return true;
	}
	case WRUN_TEXT:
	case WRUN_BYTES: {
		if (major != (f->kind == WRUN_TEXT ? 3 : 2)) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		wrun_text t = wrun_pass(r, n);
		if (f->kind == WRUN_TEXT && !wrun_utf8(t.at, t.len)) {
			return wrun_stop(r, WRUN_INVALID_UTF8);
		}
		memcpy(to, &t, sizeof t);
		r->loose |= f->optional && n == 0;
		return true;
	}
	case WRUN_TEXTS:
	case WRUN_LIST:
		return major == 4 ? wrun_read_list(r, f, to, n) : wrun_stop(r, WRUN_WRONG_TYPE);
	case WRUN_POINTER: {
		if (major != 5) {
			return wrun_stop(r, WRUN_WRONG_TYPE);
		}
		void *of = wrun_alloc(f->of->size);
		if (of == NULL) {
			return wrun_stop(r, WRUN_NO_ROOM);
		}
		memcpy(to, &of, sizeof of);
		r->loose |= f->optional && n == 0 && f->most == 0;
		return wrun_read_map(r, f->of, of, n);
	}
	}
	return wrun_stop(r, WRUN_WRONG_TYPE);
}

// wrun_read_map reads the pairs of a message into its struct, which is zero before.
static inline bool wrun_read_map(wrun_reader *r, const wrun_message *m, void *to, uint64_t pairs) {
	uint32_t seen = 0; // of each field of the table, whether it was there
	int last = -1;     // the place in the table of the key before
	for (; pairs > 0; pairs--) {
		uint8_t major;
		uint64_t key;
		if (!wrun_head(r, &major, &key)) {
			return false;
		}
		int at = 0;
		while (at < m->count && m->fields[at].key != key) {
			at++;
		}
		if (major != 0 || at == m->count) {
			return wrun_stop(r, WRUN_UNKNOWN_KEY);
		}
		if (seen & (uint32_t)1 << at) {
			return wrun_stop(r, WRUN_DUPLICATE_KEY);
		}
		seen |= (uint32_t)1 << at;
		r->loose |= at < last;
		last = at;
		if (!wrun_read_field(r, &m->fields[at], (uint8_t *)to + m->fields[at].offset)) {
			return false;
		}
	}
	for (int i = 0; i < m->count; i++) {
		r->loose |= !m->fields[i].optional && !(seen & (uint32_t)1 << i);
	}
	return true;
}

// wrun_decode reads exactly one message. It takes nothing that wrun_encode would not have written: see docs/abi.md. Texts and bytes
// are parts of what was read, lists lie in wrun_memory.
static inline wrun_why wrun_decode(wrun_text from, const wrun_message *m, void *to) {
	const uint8_t *at = (const uint8_t *)from.at, *end = at + from.len;
	wrun_reader r = {at, end, WRUN_IN_ORDER, false};
	memset(to, 0, m->size);
	if (!wrun_well_formed(&r, 0)) {
		return r.why;
	}
	if (r.at != end) {
		return WRUN_TRAILING;
	}
	r.at = at; // all heads are in order from here on
	uint8_t major;
	uint64_t n;
	wrun_head(&r, &major, &n);
	if (major != 5) {
		return WRUN_WRONG_TYPE;
	}
	if (wrun_read_map(&r, m, to, n) && r.loose) {
		return WRUN_NOT_DETERMINISTIC;
	}
	return r.why;
}

// ---- Writing messages

typedef struct wrun_writer {
	uint8_t *at, *end;
	wrun_why why; // WRUN_NO_ROOM, WRUN_INVALID_UTF8, or WRUN_WRONG_TYPE for a number that is too large
} wrun_writer;

static inline void wrun_write(wrun_writer *w, const void *from, size_t n) {
	if ((size_t)(w->end - w->at) < n) {
		w->why = WRUN_NO_ROOM;
		w->at = w->end;
		return;
	}
	if (n > 0) {
		memcpy(w->at, from, n);
	}
	w->at += n;
}

// wrun_write_head writes the head of an item, in its shortest form.
static inline void wrun_write_head(wrun_writer *w, uint8_t major, uint64_t n) {
	size_t size = n < 24 ? 0 : n <= UINT8_MAX ? 1 : n <= UINT16_MAX ? 2 : n <= UINT32_MAX ? 4 : 8;
	uint8_t b[9] = {(uint8_t)(major << 5 | (size == 0 ? n : size == 1 ? 24 : size == 2 ? 25 : size == 4 ? 26 : 27))};
	for (size_t i = 0; i < size; i++) {
		b[1 + i] = (uint8_t)(n >> 8 * (size - 1 - i));
	}
	wrun_write(w, b, 1 + size);
}

static inline void wrun_write_text(wrun_writer *w, uint8_t major, wrun_text t) {
	if (major == 3 && !wrun_utf8(t.at, t.len)) {
		w->why = WRUN_INVALID_UTF8;
	}
	wrun_write_head(w, major, t.len);
	wrun_write(w, t.at, t.len);
}

// wrun_zero says whether a value is one that a field is left out for.
static inline bool wrun_zero(const wrun_field *f, const uint8_t *from) {
	switch (f->kind) {
	case WRUN_UINT:
	case WRUN_INT: {
		uint64_t n;
		memcpy(&n, from, sizeof n);
		return n == 0;
	}
	case WRUN_BOOL: {
		bool b;
		memcpy(&b, from, sizeof b);
		return !b;
	}
	case WRUN_POINTER: {
		const void *p;
		memcpy(&p, from, sizeof p);
		return p == NULL;
	}
	}
	wrun_text t; // as lists are laid out too
	memcpy(&t, from, sizeof t);
	return t.len == 0;
}

static inline void wrun_write_map(wrun_writer *w, const wrun_message *m, const void *from);

static inline void wrun_write_field(wrun_writer *w, const wrun_field *f, const uint8_t *from) {
	uint64_t n = 0;
	bool b;
	const void *p;
	wrun_text t;
	switch (f->kind) {
	case WRUN_UINT:
		memcpy(&n, from, sizeof n);
		if (n > f->most) {
			w->why = WRUN_WRONG_TYPE;
		}
		wrun_write_head(w, 0, n);
		return;
	case WRUN_INT:
		memcpy(&n, from, sizeof n);
		wrun_write_head(w, n >> 63, n >> 63 ? ~n : n);
		return;
	case WRUN_BOOL:
		memcpy(&b, from, sizeof b);
		wrun_write_head(w, 7, b ? 21 : 20);
		return;
	case WRUN_POINTER:
		memcpy(&p, from, sizeof p);
		wrun_write_map(w, f->of, p);
		return;
	}
	memcpy(&t, from, sizeof t);
	if (f->kind == WRUN_TEXT || f->kind == WRUN_BYTES) {
		wrun_write_text(w, f->kind == WRUN_TEXT ? 3 : 2, t);
		return;
	}
	wrun_write_head(w, 4, t.len);
	for (size_t i = 0; i < t.len && w->why == WRUN_IN_ORDER; i++) {
		if (f->kind == WRUN_LIST) {
			wrun_write_map(w, f->of, t.at + i * f->of->size);
			continue;
		}
		wrun_text item;
		memcpy(&item, t.at + i * sizeof item, sizeof item);
		wrun_write_text(w, 3, item);
	}
}

static inline void wrun_write_map(wrun_writer *w, const wrun_message *m, const void *from) {
	uint64_t pairs = 0;
	for (int i = 0; i < m->count; i++) {
		pairs += !m->fields[i].optional || !wrun_zero(&m->fields[i], (const uint8_t *)from + m->fields[i].offset);
	}
	wrun_write_head(w, 5, pairs);
	for (int i = 0; i < m->count; i++) {
		const wrun_field *f = &m->fields[i];
		const uint8_t *value = (const uint8_t *)from + f->offset;
		if (!f->optional || !wrun_zero(f, value)) {
			wrun_write_head(w, 0, f->key);
			wrun_write_field(w, f, value);
		}
	}
}

// wrun_encode writes a message into wrun_memory, as the one encoding that it has.
static inline wrun_why wrun_encode(const wrun_message *m, const void *from, wrun_text *to) {
	wrun_writer w = {wrun_memory + wrun_used, wrun_memory + WRUN_MEMORY, WRUN_IN_ORDER};
	wrun_write_map(&w, m, from);
	if (w.why == WRUN_IN_ORDER) {
		to->at = (const char *)wrun_memory + wrun_used;
		to->len = (size_t)(w.at - (wrun_memory + wrun_used));
		wrun_used += to->len;
	}
	return w.why;
}

// ---- Errors

// The codes that functions answer with and tools may use in their own replies.
enum {
	WRUN_DENIED = 1,
	WRUN_NOT_FOUND = 2,
	WRUN_CONFLICT = 3,
	WRUN_TIMEOUT = 4,
	WRUN_UNAVAILABLE = 5,
	WRUN_TOO_LARGE = 6,
	WRUN_INVALID = 7,
	WRUN_RATE_LIMITED = 8,
	WRUN_UNSUPPORTED = 9,
	WRUN_FAILED = 10,
	WRUN_BAD_INPUT = 18, // from functions only, as the next one
	WRUN_INTERNAL = 20,
	WRUN_EXPIRED = 21,
};

enum { WRUN_RETRY_NEVER = 1, WRUN_RETRY_SAFE = 2, WRUN_RETRY_AFTER = 3 };
enum { WRUN_EFFECT_NONE = 1, WRUN_EFFECT_UNKNOWN = 2, WRUN_EFFECT_APPLIED = 3 };

// wrun_last is the last error: of a host function that returned false, or of wrun_fail. Its texts are copies, in wrun_last_text.
__attribute__((weak)) wrun_error wrun_last;
__attribute__((weak)) char wrun_last_text[4096 + 64];

// wrun_keep copies a text, cut to at most cap bytes at the start of a character.
static inline wrun_text wrun_keep(char *to, size_t cap, wrun_text t) {
	if (t.len > cap) {
		for (t.len = cap; t.len > 0 && ((uint8_t)t.at[t.len] & 0xc0) == 0x80; t.len--) {
		}
	}
	if (t.len > 0) {
		memmove(to, t.at, t.len);
	}
	return (wrun_text){to, t.len};
}

// wrun_set_error makes an error the last one. It returns false, as what a tool returns.
static inline bool wrun_set_error(uint64_t code, wrun_text detail, wrun_text message) {
	wrun_last = (wrun_error){.code = code, .message = wrun_keep(wrun_last_text, 4096, message), .detail = wrun_keep(wrun_last_text + 4096, 64, detail)};
	return false;
}

// wrun_fail is how a tool says that it failed: return wrun_fail(...). The detail is a short word of its own that callers can branch
// on, the message is for people. wrun_last.retry and wrun_last.retry_after_ms may be set after it.
static inline bool wrun_fail(wrun_text detail, wrun_text message) { return wrun_set_error(WRUN_FAILED, detail, message); }

// ---- Host functions

// wrun_answered reads what a host function left: a reply, or an error that becomes the last one.
static inline bool wrun_answered(int64_t result, const wrun_message *m, void *reply) {
	uint64_t len = result < 0 ? 0 - (uint64_t)result : (uint64_t)result;
	uint8_t *at = len <= WRUN_MEMORY ? wrun_alloc((size_t)len) : NULL;
	if (at == NULL) {
		wrun_set_error(WRUN_TOO_LARGE, WRUN_STRING("memory"), WRUN_STRING("the host's answer is longer than WRUN_MEMORY has room for"));
		wrun_last.effect = WRUN_EFFECT_UNKNOWN;
		return false;
	}
	bool whole = wrun_result_read(at, (uint32_t)len, 0) == (int32_t)len;
	wrun_text from = {(const char *)at, (size_t)len};
	wrun_error failed;
	wrun_why why = whole ? wrun_decode(from, result < 0 ? &wrun_error_message : m, result < 0 ? &failed : reply) : WRUN_TRUNCATED;
	if (why != WRUN_IN_ORDER) {
		wrun_set_error(WRUN_INTERNAL, WRUN_STRING("answer"), WRUN_STRING("the host's answer cannot be read"));
		wrun_last.effect = WRUN_EFFECT_UNKNOWN;
		return false;
	}
	if (result >= 0) {
		return true;
	}
	wrun_set_error(failed.code, failed.detail, failed.message);
	wrun_last.retry = failed.retry;
	wrun_last.effect = failed.effect;
	wrun_last.retry_after_ms = failed.retry_after_ms;
	return false;
}

// wrun_not_asked makes an error of a request that could not be encoded. Nothing was asked.
static inline bool wrun_not_asked(wrun_why why) {
	switch (why) {
	case WRUN_NO_ROOM:
		return wrun_set_error(WRUN_TOO_LARGE, WRUN_STRING("memory"), WRUN_STRING("a request is longer than WRUN_MEMORY has room for"));
	case WRUN_INVALID_UTF8:
		return wrun_set_error(WRUN_INVALID, WRUN_STRING(""), WRUN_STRING("a text of a request is not UTF-8"));
	default:
		return wrun_set_error(WRUN_INVALID, WRUN_STRING(""), WRUN_STRING("a number of a request is too large for its field"));
	}
}

// WRUN_FUNCTION declares the import of a host function, and a function that asks it: false, with wrun_last, when it fails.
#define WRUN_FUNCTION(name, asks, answers) \
	WRUN_IMPORT(#name) int64_t wrun_import_##name(const void *req_ptr, uint32_t req_len); \
	static inline bool wrun_##name(const wrun_##asks *request, wrun_##answers *reply) { \
		wrun_text encoded; \
		wrun_why why = wrun_encode(&wrun_##asks##_message, request, &encoded); \
		if (why != WRUN_IN_ORDER) { \
			return wrun_not_asked(why); \
		} \
		return wrun_answered(wrun_import_##name(encoded.at, (uint32_t)encoded.len), &wrun_##answers##_message, reply); \
	}

WRUN_FUNCTION(log, log_request, log_reply)
WRUN_FUNCTION(progress, progress_request, progress_reply)
WRUN_FUNCTION(clock, clock_request, clock_reply)
WRUN_FUNCTION(random, random_request, random_reply)
WRUN_FUNCTION(http_fetch, http_request, http_reply)
WRUN_FUNCTION(http_send, http_request, http_reply)
WRUN_FUNCTION(approve, approve_request, approve_reply)
WRUN_FUNCTION(sleep, sleep_request, sleep_reply)
WRUN_FUNCTION(tool_call, tool_call_request, tool_call_reply)
WRUN_FUNCTION(secret_has, secret_has_request, secret_has_reply)
WRUN_FUNCTION(config_get, config_get_request, config_get_reply)
WRUN_FUNCTION(kv_get, kv_get_request, kv_get_reply)
WRUN_FUNCTION(kv_put, kv_put_request, kv_put_reply)
WRUN_FUNCTION(kv_cas, kv_cas_request, kv_put_reply)
WRUN_FUNCTION(kv_delete, kv_delete_request, kv_delete_reply)
WRUN_FUNCTION(kv_list, kv_list_request, kv_list_reply)
WRUN_FUNCTION(artifact_put, artifact_put_request, artifact_put_reply)
WRUN_FUNCTION(artifact_get, artifact_get_request, artifact_get_reply)
WRUN_FUNCTION(artifact_stat, artifact_stat_request, artifact_stat_reply)
WRUN_FUNCTION(workspace_read, workspace_read_request, workspace_read_reply)
WRUN_FUNCTION(workspace_write, workspace_write_request, workspace_write_reply)
WRUN_FUNCTION(workspace_list, workspace_list_request, workspace_list_reply)
WRUN_FUNCTION(workspace_remove, workspace_remove_request, workspace_remove_reply)
WRUN_FUNCTION(mail_send, mail_send_request, mail_send_reply)

// wrun_say writes a line to the host's log, at level info. What comes of it is nobody's business.
static inline void wrun_say(wrun_text line) {
	wrun_log_request request = {.message = line};
	wrun_text encoded;
	if (wrun_encode(&wrun_log_request_message, &request, &encoded) == WRUN_IN_ORDER) {
		(void)wrun_import_log(encoded.at, (uint32_t)encoded.len);
	}
}

// ---- Writing text and JSON

// wrun_out is a text that is written piece by piece into memory of its owner.
typedef struct wrun_out {
	char *at;
	size_t cap, len;
	bool full;   // something did not fit, and nothing is written any more
	bool broken; // a text was not UTF-8
	bool comma;  // the next value of JSON needs one before it
} wrun_out;

// wrun_put appends a text as it is.
static inline void wrun_put(wrun_out *o, wrun_text t) {
	if (o->full || t.len > o->cap - o->len) {
		o->full = true;
		return;
	}
	if (t.len > 0) {
		memcpy(o->at + o->len, t.at, t.len);
	}
	o->len += t.len;
}

static inline void wrun_put_byte(wrun_out *o, char c) { wrun_put(o, (wrun_text){&c, 1}); }

// wrun_put_digits appends a number in decimal, with zeros before it until it has that many digits.
static inline void wrun_put_digits(wrun_out *o, int64_t n, int digits) {
	uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n, scale = 1;
	for (int i = 1; i < 19 && (i < digits || rest / scale > 9); i++) { // what has 20 digits is over INT64_MAX
		scale *= 10;
	}
	if (n < 0) {
		wrun_put_byte(o, '-');
	}
	for (; scale > 0; scale /= 10) { // from the front: clang 14 loses what is written into an array from its end
		wrun_put_byte(o, (char)('0' + rest / scale % 10));
	}
}

// wrun_written is what was written so far.
static inline wrun_text wrun_written(const wrun_out *o) { return (wrun_text){o->at, o->len}; }

// wrun_put_json writes a value that is JSON already.
static inline void wrun_put_json(wrun_out *o, wrun_text json) {
	if (o->comma) {
		wrun_put_byte(o, ',');
	}
	wrun_put(o, json);
	o->comma = true;
}

// wrun_put_open begins an object or an array with { or [, and wrun_put_close ends it.
static inline void wrun_put_open(wrun_out *o, char bracket) {
	wrun_put_json(o, (wrun_text){&bracket, 1});
	o->comma = false;
}

static inline void wrun_put_close(wrun_out *o, char bracket) {
	wrun_put_byte(o, bracket);
	o->comma = true;
}

// wrun_put_string writes a string.
static inline void wrun_put_string(wrun_out *o, wrun_text t) {
	static const char hex[] = "0123456789abcdef";
	o->broken |= !wrun_utf8(t.at, t.len);
	wrun_put_json(o, WRUN_STRING("\""));
	for (size_t i = 0; i < t.len; i++) {
		char c = t.at[i];
		if (c == '"' || c == '\\') {
			wrun_put_byte(o, '\\');
			wrun_put_byte(o, c);
		} else if ((uint8_t)c < 0x20) {
			const char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
			wrun_put(o, (wrun_text){escape, sizeof escape});
		} else {
			wrun_put_byte(o, c);
		}
	}
	wrun_put_byte(o, '"');
}

// wrun_put_key writes the name of a member. Its value comes next.
static inline void wrun_put_key(wrun_out *o, wrun_text name) {
	wrun_put_string(o, name);
	wrun_put_byte(o, ':');
	o->comma = false;
}

static inline void wrun_put_integer(wrun_out *o, int64_t n) {
	wrun_put_json(o, WRUN_STRING(""));
	wrun_put_digits(o, n, 1);
}

static inline void wrun_put_bool(wrun_out *o, bool b) { wrun_put_json(o, b ? WRUN_STRING("true") : WRUN_STRING("false")); }

// ---- Reading JSON

// What is read is a value with nothing before and behind it, such as the input of a tool, or what these functions give.

#define WRUN_JSON_DEPTH 512

static inline const char *wrun_json_space(const char *p, const char *end) {
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
		p++;
	}
	return p;
}

static inline int wrun_json_hex(const char *p, const char *end) {
	if (end - p < 4) {
		return -1;
	}
	int n = 0;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
		if (digit < 0) {
			return -1;
		}
		n = n << 4 | digit;
	}
	return n;
}

// wrun_json_pass_string returns the end of the string that begins at p, NULL when there is none.
static inline const char *wrun_json_pass_string(const char *p, const char *end) {
	if (p == end || *p != '"') {
		return NULL;
	}
	for (p++; p < end; p++) {
		if (*p == '"') {
			return p + 1;
		}
		if ((uint8_t)*p < 0x20) {
			return NULL;
		}
		if (*p != '\\') {
			continue;
		}
		if (++p == end || *p == 0 || strchr("\"\\/bfnrtu", *p) == NULL) {
			return NULL;
		}
		if (*p == 'u') {
			if (wrun_json_hex(p + 1, end) < 0) {
				return NULL;
			}
			p += 4;
		}
	}
	return NULL;
}

static inline const char *wrun_json_digits(const char *p, const char *end) {
	const char *first = p;
	while (p < end && *p >= '0' && *p <= '9') {
		p++;
	}
	return p == first ? NULL : p;
}

// wrun_json_pass_scalar returns the end of a string, a number, true, false or null.
static inline const char *wrun_json_pass_scalar(const char *p, const char *end) {
	if (p == end) {
		return NULL;
	}
	if (*p == '"') {
		return wrun_json_pass_string(p, end);
	}
	static const char *const words[] = {"true", "false", "null"};
	for (int i = 0; i < 3; i++) {
		size_t len = strlen(words[i]);
		if ((size_t)(end - p) >= len && memcmp(p, words[i], len) == 0) {
			return p + len;
		}
	}
	p += *p == '-';
	if (p < end && *p == '0') {
		p++;
	} else if ((p = wrun_json_digits(p, end)) == NULL) {
		return NULL;
	}
	if (p < end && *p == '.' && (p = wrun_json_digits(p + 1, end)) == NULL) {
		return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		p = wrun_json_digits(p, end);
	}
	return p;
}

// wrun_json_pass_key returns the beginning of the value behind the name of a member.
static inline const char *wrun_json_pass_key(const char *p, const char *end) {
	p = wrun_json_pass_string(wrun_json_space(p, end), end);
	if (p == NULL) {
		return NULL;
	}
	p = wrun_json_space(p, end);
	return p < end && *p == ':' ? p + 1 : NULL;
}

// wrun_json_pass returns the end of the value that begins at p or behind space there, NULL when it is none, or nested more than
// WRUN_JSON_DEPTH deep.
static inline const char *wrun_json_pass(const char *p, const char *end) {
	bool objects[WRUN_JSON_DEPTH]; // what is open, from the outside
	size_t depth = 0;
	for (;;) {
		p = wrun_json_space(p, end);
		if (p < end && (*p == '{' || *p == '[')) {
			if (depth == WRUN_JSON_DEPTH) {
				return NULL;
			}
			bool object = objects[depth++] = *p == '{';
			const char *inside = wrun_json_space(p + 1, end);
			if (inside == end || *inside != (object ? '}' : ']')) {
				p = object ? wrun_json_pass_key(inside, end) : inside;
				if (p == NULL) {
					return NULL;
				}
				continue;
			}
			p = inside;
		} else if ((p = wrun_json_pass_scalar(p, end)) == NULL) {
			return NULL;
		}
		for (;; p++) { // behind a value, or at the bracket that ends one
			if (depth == 0) {
				return p;
			}
			p = wrun_json_space(p, end);
			if (p == end) {
				return NULL;
			}
			bool object = objects[depth - 1];
			if (*p == ',') {
				p = object ? wrun_json_pass_key(p + 1, end) : p + 1;
				break;
			}
			if (*p != (object ? '}' : ']')) {
				return NULL;
			}
			if (--depth == 0) {
				return p + 1;
			}
		}
		if (p == NULL) {
			return NULL;
		}
	}
}

// wrun_json_valid says whether a text is one value of JSON.
static inline bool wrun_json_valid(wrun_text json) {
	const char *end = json.at + json.len, *p = wrun_json_pass(json.at, end);
	return p != NULL && wrun_json_space(p, end) == end && wrun_utf8(json.at, json.len);
}

// wrun_json_string gives the text that a string stands for, without its escapes. A string with none is not copied. It is false for
// what is no string, for half of a surrogate pair, and when there is no room.
static inline bool wrun_json_string(wrun_text value, wrun_text *text) {
	const char *p = value.at, *end = p + value.len;
	if (value.len < 2 || wrun_json_pass_string(p, end) != end) {
		return false;
	}
	p++;
	end--;
	if (memchr(p, '\\', (size_t)(end - p)) == NULL) {
		*text = (wrun_text){p, (size_t)(end - p)};
		return wrun_utf8(text->at, text->len);
	}
	char *to = wrun_alloc((size_t)(end - p)), *at = to;
	if (to == NULL) {
		return false;
	}
	while (p < end) {
		if (*p != '\\') {
			*at++ = *p++;
			continue;
		}
		static const char names[] = "bfnrt", chars[] = "\b\f\n\r\t";
		char c = p[1];
		const char *name = strchr(names, c);
		p += 2;
		if (c != 'u') {
			*at++ = name ? chars[name - names] : c;
			continue;
		}
		uint32_t rune = (uint32_t)wrun_json_hex(p, end);
		p += 4;
		if (rune >= 0xdc00 && rune <= 0xdfff) {
			return false;
		}
		if (rune >= 0xd800 && rune <= 0xdbff) {
			int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? wrun_json_hex(p + 2, end) : -1;
			if (low < 0xdc00 || low > 0xdfff) {
				return false;
			}
			rune = 0x10000 + ((rune - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
			p += 6;
		}
		if (rune < 0x80) {
			*at++ = (char)rune;
		} else if (rune < 0x800) {
			*at++ = (char)(0xc0 | rune >> 6);
		} else if (rune < 0x10000) {
			*at++ = (char)(0xe0 | rune >> 12);
			*at++ = (char)(0x80 | (rune >> 6 & 0x3f));
		} else {
			*at++ = (char)(0xf0 | rune >> 18);
			*at++ = (char)(0x80 | (rune >> 12 & 0x3f));
			*at++ = (char)(0x80 | (rune >> 6 & 0x3f));
		}
		if (rune >= 0x80) {
			*at++ = (char)(0x80 | (rune & 0x3f));
		}
	}
	*text = (wrun_text){to, (size_t)(at - to)};
	return wrun_utf8(text->at, text->len);
}

// wrun_json_next gives the next item of an array, or the next member of an object with its name, and moves *at, which is 0 at first.
// name may be NULL, and is left alone for an array. It is false at the end, and for what is neither.
static inline bool wrun_json_next(wrun_text json, size_t *at, wrun_text *name, wrun_text *value) {
	const char *end = json.at + json.len, *p = wrun_json_space(json.at, end);
	if (p == end || (*p != '{' && *p != '[')) {
		return false;
	}
	bool object = *p == '{';
	if (*at > 0) {
		p = *at < json.len ? wrun_json_space(json.at + *at, end) : end;
		if (p == end || *p != ',') {
			return false;
		}
	}
	p = wrun_json_space(p + 1, end);
	if (p == end || *p == '}' || *p == ']') {
		return false;
	}
	if (object) {
		const char *behind = wrun_json_pass_string(p, end);
		if (behind == NULL) {
			return false;
		}
		if (name != NULL && !wrun_json_string((wrun_text){p, (size_t)(behind - p)}, name)) {
			return false;
		}
		p = wrun_json_pass_key(p, end);
		if (p == NULL) {
			return false;
		}
	}
	p = wrun_json_space(p, end);
	const char *behind = wrun_json_pass(p, end);
	if (behind == NULL) {
		return false;
	}
	*value = (wrun_text){p, (size_t)(behind - p)};
	*at = (size_t)(behind - json.at);
	return true;
}

// wrun_json_member gives the value of a member of an object.
static inline bool wrun_json_member(wrun_text object, wrun_text name, wrun_text *value) {
	wrun_text found, is;
	for (size_t at = 0; wrun_json_next(object, &at, &found, &is);) {
		if (wrun_equal(found, name)) {
			*value = is;
			return true;
		}
	}
	return false;
}

// wrun_json_integer gives a whole number in its plain form, exactly. It is false for one that does not fit, and for 1.0 and 1e3.
static inline bool wrun_json_integer(wrun_text value, int64_t *n) {
	size_t i = 0;
	bool negative = value.len > 0 && value.at[0] == '-';
	uint64_t sum = 0, most = (uint64_t)INT64_MAX + negative;
	i += negative;
	if (i == value.len || (value.at[i] == '0' && value.len - i > 1)) {
		return false;
	}
	for (; i < value.len; i++) {
		char c = value.at[i];
		if (c < '0' || c > '9' || sum > (most - (uint64_t)(c - '0')) / 10) {
			return false;
		}
		sum = sum * 10 + (uint64_t)(c - '0');
	}
	*n = (int64_t)(negative ? 0 - sum : sum);
	return true;
}

// ---- Tools

// wrun_tool is one tool: its name, as the manifest has it, and what it does. It is given its input, JSON that the host has held
// against the tool's schema, and writes its output, JSON. It returns false when it failed, and wrun_last says how.
typedef struct wrun_tool {
	const char *name;
	bool (*run)(wrun_text input, wrun_out *output);
} wrun_tool;

// wrun_give writes the reply in one piece: what is refused leaves nothing behind.
static inline bool wrun_give(const wrun_reply *reply) {
	wrun_text encoded;
	return wrun_encode(&wrun_reply_message, reply, &encoded) == WRUN_IN_ORDER && wrun_output_write(encoded.at, (uint32_t)encoded.len) == 0;
}

// wrun_give_up replies with the last error.
static inline int32_t wrun_give_up(void) {
	if (wrun_last.code == 0) {
		wrun_fail(WRUN_STRING(""), WRUN_STRING("the tool failed, and does not say how"));
	}
	wrun_release(0);
	wrun_reply reply = {.err = &wrun_last};
	if (wrun_give(&reply)) {
		return 0;
	}
	// What it says cannot be said: it is not UTF-8, or there is no room for it. Its code can.
	wrun_error bare = {.code = wrun_last.code <= UINT16_MAX ? wrun_last.code : WRUN_FAILED, .effect = wrun_last.effect <= UINT8_MAX ? wrun_last.effect : 0};
	reply.err = &bare;
	return wrun_give(&reply) ? 0 : 2;
}

// wrun_run is a call: it reads the request, runs the tool and writes the reply. What it returns is what wrun_invoke returns.
static inline int32_t wrun_run(const wrun_tool *tools, size_t count, uint32_t input_len) {
	uint8_t *at = wrun_alloc(input_len);
	if (at == NULL) {
		wrun_set_error(WRUN_TOO_LARGE, WRUN_STRING("memory"), WRUN_STRING("the input is longer than WRUN_MEMORY has room for"));
		return wrun_give_up();
	}
	wrun_request request;
	if (wrun_input_read(at, input_len, 0) != (int32_t)input_len ||
	    wrun_decode((wrun_text){(const char *)at, input_len}, &wrun_request_message, &request) != WRUN_IN_ORDER || request.abi != 1) {
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		if (!wrun_equal(request.tool, (wrun_text){tools[i].name, strlen(tools[i].name)})) {
			continue;
		}
		static char room[WRUN_OUTPUT];
		wrun_out output = {.at = room, .cap = sizeof room};
		if (!tools[i].run(request.input, &output)) {
			return wrun_give_up();
		}
		if (output.full) {
			wrun_set_error(WRUN_TOO_LARGE, WRUN_STRING("output"), WRUN_STRING("the output is longer than WRUN_OUTPUT has room for"));
			return wrun_give_up();
		}
		if (output.broken) {
			wrun_fail(WRUN_STRING("utf8"), WRUN_STRING("a text of the output is not UTF-8"));
			return wrun_give_up();
		}
		wrun_release(0); // nothing of it is needed any more, and the reply may be long
		wrun_reply reply = {.output = wrun_written(&output)};
		if (wrun_give(&reply)) {
			return 0;
		}
		wrun_set_error(WRUN_TOO_LARGE, WRUN_STRING("output"), WRUN_STRING("the output is longer than the call may write"));
		return wrun_give_up();
	}
	wrun_set_error(WRUN_NOT_FOUND, WRUN_STRING(""), WRUN_STRING("the module has no such tool"));
	return wrun_give_up();
}

// WRUN_TOOLS names the tools of the module and makes its exports. It stands once in a module, at the end of a file.
#define WRUN_TOOLS(...) \
	WRUN_EXPORT("wrun_abi_1") void wrun_abi_1(void) {} \
	WRUN_EXPORT("wrun_invoke") int32_t wrun_invoke(uint32_t input_len) { \
		static const wrun_tool tools[] = {__VA_ARGS__}; \
		return wrun_run(tools, sizeof tools / sizeof *tools, input_len); \
	}

#endif
