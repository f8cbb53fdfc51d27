package toolabi

// FuncConfigGet returns a value that the operator set for the module, by the name in its manifest. Read: the answer is recorded.
const FuncConfigGet = "config_get"

// MaxConfigValue is the longest value of the configuration, in bytes.
const MaxConfigValue = 16 << 10

// ConfigGetRequest is the request of config_get. A manifest that names targets for it names the keys that may be asked for.
//
// Errors: Invalid for what is no key; Denied for one that is not among the targets.
type ConfigGetRequest struct {
	// Key has the form of a secret's name.
	Key string `cbor:"1,keyasint"`
}

// ConfigGetReply is the reply of config_get.
type ConfigGetReply struct {
	// Found says that the operator set the key.
	Found bool `cbor:"1,keyasint,omitempty"`
	// Value is text, at most MaxConfigValue bytes.
	Value string `cbor:"2,keyasint,omitempty"`
}
