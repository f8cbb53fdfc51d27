// The manifest as a message. A module does not need it: tool.toml is its manifest. It is here to be tried with the vectors, and shows
// how a message is described that wrun.h does not have.

typedef struct wrun_retry_policy {
	uint64_t attempts;
	uint64_t backoff_ms;
	uint64_t max_backoff_ms;
} wrun_retry_policy;
static const wrun_field wrun_retry_policy_fields[] = {
	WRUN_MAY(wrun_retry_policy, 1, WRUN_UINT, attempts, UINT32_MAX, NULL),
	WRUN_MAY(wrun_retry_policy, 2, WRUN_UINT, backoff_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_retry_policy, 3, WRUN_UINT, max_backoff_ms, UINT64_MAX, NULL),
};
WRUN_MESSAGE(retry_policy);

typedef struct wrun_manifest_tool {
	wrun_text name;
	wrun_text description;
	wrun_text input;
	wrun_text output;
	wrun_text idempotency;
	uint64_t key_ttl_ms;
	wrun_text lookup;
	uint64_t settle_ms;
	wrun_text compensate;
	bool destructive;
	bool approval;
	uint64_t timeout_ms;
	const wrun_retry_policy *retry;
} wrun_manifest_tool;
static const wrun_field wrun_manifest_tool_fields[] = {
	WRUN_MUST(wrun_manifest_tool, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 2, WRUN_TEXT, description, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 3, WRUN_BYTES, input, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 4, WRUN_BYTES, output, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 5, WRUN_TEXT, idempotency, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 6, WRUN_UINT, key_ttl_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_manifest_tool, 7, WRUN_TEXT, lookup, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 8, WRUN_UINT, settle_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_manifest_tool, 9, WRUN_TEXT, compensate, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 10, WRUN_BOOL, destructive, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 11, WRUN_BOOL, approval, 0, NULL),
	WRUN_MAY(wrun_manifest_tool, 12, WRUN_UINT, timeout_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_manifest_tool, 13, WRUN_POINTER, retry, 0, &wrun_retry_policy_message),
};
WRUN_MESSAGE(manifest_tool);
typedef struct wrun_manifest_tools { wrun_manifest_tool *at; size_t len; } wrun_manifest_tools;

typedef struct wrun_capability {
	wrun_text name;
	wrun_text reason;
	wrun_texts targets;
	wrun_texts secrets;
} wrun_capability;
static const wrun_field wrun_capability_fields[] = {
	WRUN_MUST(wrun_capability, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MUST(wrun_capability, 2, WRUN_TEXT, reason, 0, NULL),
	WRUN_MAY(wrun_capability, 3, WRUN_TEXTS, targets, 0, NULL),
	WRUN_MAY(wrun_capability, 4, WRUN_TEXTS, secrets, 0, NULL),
};
WRUN_MESSAGE(capability);
typedef struct wrun_capabilitys { wrun_capability *at; size_t len; } wrun_capabilitys;

typedef struct wrun_limits {
	uint64_t timeout_ms;
	uint64_t memory_bytes;
	uint64_t output_bytes;
	uint64_t fuel;
} wrun_limits;
static const wrun_field wrun_limits_fields[] = {
	WRUN_MAY(wrun_limits, 1, WRUN_UINT, timeout_ms, UINT64_MAX, NULL),
	WRUN_MAY(wrun_limits, 2, WRUN_UINT, memory_bytes, UINT64_MAX, NULL),
	WRUN_MAY(wrun_limits, 3, WRUN_UINT, output_bytes, UINT64_MAX, NULL),
	WRUN_MAY(wrun_limits, 4, WRUN_UINT, fuel, UINT64_MAX, NULL),
};
WRUN_MESSAGE(limits);

typedef struct wrun_dir {
	wrun_text name;
	wrun_text path;
	bool write;
	wrun_text reason;
} wrun_dir;
static const wrun_field wrun_dir_fields[] = {
	WRUN_MUST(wrun_dir, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MUST(wrun_dir, 2, WRUN_TEXT, path, 0, NULL),
	WRUN_MAY(wrun_dir, 3, WRUN_BOOL, write, 0, NULL),
	WRUN_MUST(wrun_dir, 4, WRUN_TEXT, reason, 0, NULL),
};
WRUN_MESSAGE(dir);
typedef struct wrun_dirs { wrun_dir *at; size_t len; } wrun_dirs;

typedef struct wrun_command {
	wrun_texts args;
	wrun_dirs dirs;
	bool text;
} wrun_command;
static const wrun_field wrun_command_fields[] = {
	WRUN_MAY(wrun_command, 1, WRUN_TEXTS, args, 0, NULL),
	WRUN_MAY(wrun_command, 2, WRUN_LIST, dirs, 0, &wrun_dir_message),
	WRUN_MAY(wrun_command, 3, WRUN_BOOL, text, 0, NULL),
};
WRUN_MESSAGE(command);

typedef struct wrun_manifest {
	wrun_text name;
	wrun_text version;
	wrun_manifest_tools tools;
	wrun_capabilitys capabilities;
	const wrun_limits *limits;
	wrun_text description;
	const wrun_command *command;
} wrun_manifest;
static const wrun_field wrun_manifest_fields[] = {
	WRUN_MUST(wrun_manifest, 1, WRUN_TEXT, name, 0, NULL),
	WRUN_MUST(wrun_manifest, 2, WRUN_TEXT, version, 0, NULL),
	WRUN_MUST(wrun_manifest, 3, WRUN_LIST, tools, 0, &wrun_manifest_tool_message),
	WRUN_MAY(wrun_manifest, 4, WRUN_LIST, capabilities, 0, &wrun_capability_message),
	WRUN_MAY(wrun_manifest, 5, WRUN_POINTER, limits, 0, &wrun_limits_message),
	WRUN_MAY(wrun_manifest, 6, WRUN_TEXT, description, 0, NULL),
	WRUN_MAY(wrun_manifest, 7, WRUN_POINTER, command, 1, &wrun_command_message),
};
WRUN_MESSAGE(manifest);
