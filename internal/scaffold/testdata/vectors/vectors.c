// A guest for tests that tries wrun.h: it reads messages and writes them again, and reads JSON.

#define WRUN_MEMORY (16u << 20)
#define WRUN_OUTPUT (4u << 20)
#include "wrun.h"

#include "manifest.h"

#define MESSAGE(name, as) {#name, &wrun_##as##_message}

static const struct known {
	const char *name;
	const wrun_message *is;
} known[] = {
	MESSAGE(Request, request),
	MESSAGE(Reply, reply),
	MESSAGE(Error, error),
	MESSAGE(Manifest, manifest),
	MESSAGE(Limits, limits),
	MESSAGE(LogRequest, log_request),
	MESSAGE(LogReply, log_reply),
	MESSAGE(ProgressRequest, progress_request),
	MESSAGE(ProgressReply, progress_reply),
	MESSAGE(ClockRequest, clock_request),
	MESSAGE(ClockReply, clock_reply),
	MESSAGE(RandomRequest, random_request),
	MESSAGE(RandomReply, random_reply),
	MESSAGE(HTTPRequest, http_request),
	MESSAGE(HTTPReply, http_reply),
	MESSAGE(ApproveRequest, approve_request),
	MESSAGE(ApproveReply, approve_reply),
	MESSAGE(SleepRequest, sleep_request),
	MESSAGE(SleepReply, sleep_reply),
	MESSAGE(ToolCallRequest, tool_call_request),
	MESSAGE(ToolCallReply, tool_call_reply),
	MESSAGE(SecretHasRequest, secret_has_request),
	MESSAGE(SecretHasReply, secret_has_reply),
	MESSAGE(ConfigGetRequest, config_get_request),
	MESSAGE(ConfigGetReply, config_get_reply),
	MESSAGE(KVGetRequest, kv_get_request),
	MESSAGE(KVGetReply, kv_get_reply),
	MESSAGE(KVPutRequest, kv_put_request),
	MESSAGE(KVCASRequest, kv_cas_request),
	MESSAGE(KVPutReply, kv_put_reply),
	MESSAGE(KVDeleteRequest, kv_delete_request),
	MESSAGE(KVDeleteReply, kv_delete_reply),
	MESSAGE(KVListRequest, kv_list_request),
	MESSAGE(KVListReply, kv_list_reply),
	MESSAGE(ArtifactPutRequest, artifact_put_request),
	MESSAGE(ArtifactPutReply, artifact_put_reply),
	MESSAGE(ArtifactGetRequest, artifact_get_request),
	MESSAGE(ArtifactGetReply, artifact_get_reply),
	MESSAGE(ArtifactStatRequest, artifact_stat_request),
	MESSAGE(ArtifactStatReply, artifact_stat_reply),
	MESSAGE(WorkspaceReadRequest, workspace_read_request),
	MESSAGE(WorkspaceReadReply, workspace_read_reply),
	MESSAGE(WorkspaceWriteRequest, workspace_write_request),
	MESSAGE(WorkspaceWriteReply, workspace_write_reply),
	MESSAGE(WorkspaceListRequest, workspace_list_request),
	MESSAGE(WorkspaceListReply, workspace_list_reply),
	MESSAGE(WorkspaceRemoveRequest, workspace_remove_request),
	MESSAGE(WorkspaceRemoveReply, workspace_remove_reply),
	MESSAGE(MailSendRequest, mail_send_request),
	MESSAGE(MailSendReply, mail_send_reply),
};

static const char *const reasons[] = {
	[WRUN_TRUNCATED] = "truncated",
	[WRUN_TRAILING] = "trailing",
	[WRUN_DUPLICATE_KEY] = "duplicate_key",
	[WRUN_UNKNOWN_KEY] = "unknown_key",
	[WRUN_INDEFINITE] = "indefinite",
	[WRUN_TAG] = "tag",
	[WRUN_NESTING] = "nesting",
	[WRUN_INVALID_UTF8] = "invalid_utf8",
	[WRUN_WRONG_TYPE] = "wrong_type",
	[WRUN_MALFORMED] = "malformed",
	[WRUN_NOT_DETERMINISTIC] = "not_deterministic",
	[WRUN_NO_ROOM] = "no_room",
};

static wrun_text of(const char *s) { return (wrun_text){s, strlen(s)}; }

static void hex(wrun_out *o, wrun_text t) {
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < t.len; i++) {
		wrun_put_byte(o, digits[(uint8_t)t.at[i] >> 4]);
		wrun_put_byte(o, digits[(uint8_t)t.at[i] & 15]);
	}
}

static bool unhex(wrun_text t, wrun_text *bytes) {
	char *to = wrun_alloc(t.len / 2);
	if (to == NULL || t.len % 2 != 0) {
		return false;
	}
	for (size_t i = 0; i < t.len; i++) {
		char c = t.at[i];
		to[i / 2] = (char)(to[i / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
	}
	*bytes = (wrun_text){to, t.len / 2};
	return true;
}

// show writes what a struct holds: fields by their keys, and texts in hexadecimal. Numbers are texts too, since some are beyond int64_t.
static void show(wrun_out *o, const wrun_message *m, const uint8_t *from) {
	wrun_put(o, WRUN_STRING("{"));
	for (int i = 0; i < m->count; i++) {
		const wrun_field *f = &m->fields[i];
		const uint8_t *at = from + f->offset;
		if (f->optional && wrun_zero(f, at)) {
			continue;
		}
		wrun_put_digits(o, f->key, 1);
		wrun_put(o, WRUN_STRING(":"));
		wrun_text t;
		uint64_t n;
		const uint8_t *p;
		switch (f->kind) {
		case WRUN_UINT:
			memcpy(&n, at, sizeof n);
			if (n / 10 > 0) {
				wrun_put_digits(o, (int64_t)(n / 10), 1);
			}
			wrun_put_digits(o, (int64_t)(n % 10), 1);
			break;
		case WRUN_INT:
			memcpy(&n, at, sizeof n);
			wrun_put_digits(o, (int64_t)n, 1);
			break;
		case WRUN_BOOL:
			wrun_put(o, *(const bool *)at ? WRUN_STRING("true") : WRUN_STRING("false"));
			break;
		case WRUN_POINTER:
			memcpy(&p, at, sizeof p);
			show(o, f->of, p);
			break;
		default:
			memcpy(&t, at, sizeof t);
			if (f->kind == WRUN_TEXT || f->kind == WRUN_BYTES) {
				hex(o, t);
				break;
			}
			wrun_put(o, WRUN_STRING("["));
			for (size_t j = 0; j < t.len; j++) {
				if (f->kind == WRUN_LIST) {
					show(o, f->of, (const uint8_t *)t.at + j * f->of->size);
				} else {
					hex(o, ((const wrun_text *)(const void *)t.at)[j]);
				}
				wrun_put(o, WRUN_STRING(","));
			}
			wrun_put(o, WRUN_STRING("]"));
		}
		wrun_put(o, WRUN_STRING(","));
	}
	wrun_put(o, WRUN_STRING("}"));
}

// one tries a message: [name, bytes] gives [bytes as written again, what the struct holds], or why it is none.
static bool one(wrun_text item, wrun_out *output) {
	wrun_text value, name, bytes;
	size_t at = 0;
	if (!wrun_json_next(item, &at, NULL, &value) || !wrun_json_string(value, &name) || !wrun_json_next(item, &at, NULL, &value) ||
	    !wrun_json_string(value, &bytes) || !unhex(bytes, &bytes)) {
		return wrun_fail(WRUN_STRING("input"), WRUN_STRING("want a name and bytes"));
	}
	const wrun_message *m = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (wrun_equal(of(known[i].name), name)) {
			m = known[i].is;
		}
	}
	if (m == NULL) {
		return wrun_fail(WRUN_STRING("message"), name);
	}
	uint8_t *to = wrun_alloc(m->size);
	wrun_why why = wrun_decode(bytes, m, to);
	if (why != WRUN_IN_ORDER) {
		wrun_put_string(output, of(reasons[why]));
		return true;
	}
	wrun_text again;
	if (wrun_encode(m, to, &again) != WRUN_IN_ORDER) {
		return wrun_fail(WRUN_STRING("encode"), name);
	}
	static char room[1 << 20];
	wrun_out said = {.at = room, .cap = sizeof room};
	wrun_put_open(output, '[');
	hex(&said, again);
	wrun_put_string(output, wrun_written(&said));
	said.len = 0;
	show(&said, m, to);
	wrun_put_string(output, wrun_written(&said));
	wrun_put_close(output, ']');
	return true;
}

static bool try(wrun_text input, wrun_out *output) {
	wrun_text item;
	wrun_put_open(output, '[');
	for (size_t at = 0; wrun_json_next(input, &at, NULL, &item);) {
		size_t mark = wrun_mark();
		if (!one(item, output)) {
			return false;
		}
		wrun_release(mark);
	}
	wrun_put_close(output, ']');
	return true;
}

// copy writes a value again, from what the readers of JSON give. What they do not take becomes "?".
static void copy(wrun_text value, wrun_out *output) {
	wrun_text name, item;
	int64_t n;
	bool object = value.len > 0 && value.at[0] == '{';
	if (object || (value.len > 0 && value.at[0] == '[')) {
		wrun_put_open(output, value.at[0]);
		for (size_t at = 0; wrun_json_next(value, &at, &name, &item);) {
			if (object) {
				wrun_put_key(output, name);
			}
			copy(item, output);
		}
		wrun_put_close(output, object ? '}' : ']');
	} else if (wrun_json_string(value, &name)) {
		wrun_put_string(output, name);
	} else if (wrun_json_integer(value, &n)) {
		wrun_put_integer(output, n);
	} else {
		wrun_put_json(output, wrun_equal(value, WRUN_STRING("true")) || wrun_equal(value, WRUN_STRING("false")) || wrun_equal(value, WRUN_STRING("null")) ? value : WRUN_STRING("\"?\""));
	}
}

// json says of each string in a list whether it is JSON, and writes what it holds.
static bool json(wrun_text input, wrun_out *output) {
	wrun_text value, text;
	wrun_put_open(output, '[');
	for (size_t at = 0; wrun_json_next(input, &at, NULL, &value);) {
		if (!wrun_json_string(value, &text) || !unhex(text, &text)) {
			return wrun_fail(WRUN_STRING("input"), WRUN_STRING("want texts in hexadecimal"));
		}
		if (!wrun_json_valid(text)) {
			wrun_put_bool(output, false);
			continue;
		}
		static char room[1 << 18];
		wrun_out copied = {.at = room, .cap = sizeof room};
		const char *first = wrun_json_space(text.at, text.at + text.len), *last = wrun_json_pass(first, text.at + text.len);
		copy((wrun_text){first, (size_t)(last - first)}, &copied);
		wrun_put_string(output, wrun_written(&copied));
	}
	wrun_put_close(output, ']');
	return true;
}

WRUN_TOOLS({"try", try}, {"json", json})
