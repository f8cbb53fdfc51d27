// Package model is what an agent says to a language model and what comes back, without any provider's words for it, and the
// clients that speak the providers' protocols over HTTP.
//
// A client makes the bytes of a request and sends them once. It does not retry, does not remember a conversation, decides
// nothing, and knows no journal: whoever asks records what is about to be sent and what came of it. The bytes of a request
// depend on the request and the provider alone, so that the same request has the same fingerprint in every process.
package model
