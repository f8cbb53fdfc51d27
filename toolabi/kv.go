package toolabi

// The functions of stores: keys and values that outlive a run, kept in the journal. A store has a name, and belongs to whoever
// is granted it; the one that a request does not name has the name in the module's manifest. Targets in a manifest are names of stores.
const (
	// FuncKVGet reads a key. Read: the answer is recorded.
	FuncKVGet = "kv_get"
	// FuncKVPut sets a key. Local: it happens in the transaction that records it, or not at all. A tool reads its own writes.
	FuncKVPut = "kv_put"
	// FuncKVCAS sets a key that has the version that is expected. Local.
	FuncKVCAS = "kv_cas"
	// FuncKVDelete removes a key. Local.
	FuncKVDelete = "kv_delete"
	// FuncKVList lists keys. Read.
	FuncKVList = "kv_list"
)

// Caps of stores.
const (
	// MaxKVKey is how long a key may be, in bytes.
	MaxKVKey = 512
	// MaxKVValue is how long a value may be, in bytes.
	MaxKVValue = 64 << 10
	// MaxKVKeys is how many keys a store may hold.
	MaxKVKeys = 100_000
	// MaxKVStore is how long all keys and values of a store may be together, in bytes.
	MaxKVStore = 64 << 20
	// DefaultKVList is what a Limit of 0 means, MaxKVList the highest Limit.
	DefaultKVList = 100
	MaxKVList     = 1000
	// MaxKVListBytes is how long the keys and values of one answer may be together, in bytes.
	MaxKVListBytes = 1 << 20
)

// IsStoreName says whether s can be the name of a store: lower-case letters, digits and inner hyphens, at most 64.
func IsStoreName(s string) bool { return IsModuleName(s) }

// KVGetRequest is the request of kv_get.
//
// Errors of all functions of stores: Invalid for a store or a key that is no name; Denied for a store that is not granted, and for
// a write where only reading is.
type KVGetRequest struct {
	// Store is the store's name, which has the form of a module's; "" means the module's own.
	Store string `cbor:"1,keyasint,omitempty"`
	// Key is text, 1 to MaxKVKey bytes.
	Key string `cbor:"2,keyasint"`
}

// KVGetReply is the reply of kv_get.
type KVGetReply struct {
	// Found says that the key is there.
	Found bool `cbor:"1,keyasint,omitempty"`
	// Value is the key's.
	Value []byte `cbor:"2,keyasint,omitempty"`
	// Version is what kv_cas wants to be told: 1 or more, and 0 for a key that is not there. It grows with every write of the key.
	Version uint64 `cbor:"3,keyasint,omitempty"`
}

// KVPutRequest is the request of kv_put.
//
// Errors besides: TooLarge for a value over MaxKVValue, and where the store would have more than MaxKVKeys keys or MaxKVStore bytes.
type KVPutRequest struct {
	// Store and Key are as for kv_get.
	Store string `cbor:"1,keyasint,omitempty"`
	Key   string `cbor:"2,keyasint"`
	// Value is at most MaxKVValue bytes.
	Value []byte `cbor:"3,keyasint"`
}

// KVCASRequest is the request of kv_cas.
//
// Errors besides those of kv_put: Conflict when the key has another version, and nothing was changed.
type KVCASRequest struct {
	// Store, Key and Value are as for kv_put.
	Store string `cbor:"1,keyasint,omitempty"`
	Key   string `cbor:"2,keyasint"`
	Value []byte `cbor:"3,keyasint"`
	// Expect is the version that the key must have; 0 for a key that must not be there.
	Expect uint64 `cbor:"4,keyasint,omitempty"`
}

// KVPutReply is the reply of kv_put and kv_cas.
type KVPutReply struct {
	// Version is the one that the key has now.
	Version uint64 `cbor:"1,keyasint"`
}

// KVDeleteRequest is the request of kv_delete. Removing a key that is not there is fine.
type KVDeleteRequest struct {
	// Store and Key are as for kv_get.
	Store string `cbor:"1,keyasint,omitempty"`
	Key   string `cbor:"2,keyasint"`
}

// KVDeleteReply is the reply of kv_delete.
type KVDeleteReply struct {
	// Found says that the key was there.
	Found bool `cbor:"1,keyasint,omitempty"`
}

// KVListRequest is the request of kv_list.
type KVListRequest struct {
	// Store is as for kv_get.
	Store string `cbor:"1,keyasint,omitempty"`
	// Prefix is what the keys begin with, at most MaxKVKey bytes; "" lists all.
	Prefix string `cbor:"2,keyasint,omitempty"`
	// After begins behind this key: the last one of the answer before.
	After string `cbor:"3,keyasint,omitempty"`
	// Limit is how many keys are listed at most; 0 means DefaultKVList. Over MaxKVList it is Invalid.
	Limit uint32 `cbor:"4,keyasint,omitempty"`
	// Values says that the values are wanted too.
	Values bool `cbor:"5,keyasint,omitempty"`
}

// KVListReply is the reply of kv_list. What others write between two answers shows in the second one.
type KVListReply struct {
	// Items are the keys in the order of their bytes.
	Items []KVItem `cbor:"1,keyasint,omitempty"`
	// More says that there are others behind them: the limit or MaxKVListBytes was reached.
	More bool `cbor:"2,keyasint,omitempty"`
}

// KVItem is one key of a list.
type KVItem struct {
	Key     string `cbor:"1,keyasint"`
	Version uint64 `cbor:"2,keyasint"`
	// Size is the value's length in bytes.
	Size uint32 `cbor:"3,keyasint,omitempty"`
	// Value is the key's, where values were asked for.
	Value []byte `cbor:"4,keyasint,omitempty"`
}
