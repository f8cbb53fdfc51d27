package model

import "net/http"

// protocol is what one protocol has of its own. It has no state.
type protocol interface {
	name() string
	// base is where the provider who made the protocol is, path what is asked there.
	base() string
	path() string
	// streaming are the members that ask for a stream, as they are put behind those of a request.
	streaming() string
	authorise(h http.Header, key string)

	// encode returns the bytes of a request; native says that they are for the provider who made the protocol.
	encode(r Request, native bool) ([]byte, error)
	read(message []byte) (Said, error)
	// whole reads an answer that came in one piece, and that is valid JSON.
	whole(body []byte) (Answer, error)
	// assemble begins an answer that comes in pieces.
	assemble() assembler
}

// assembler puts an answer together.
type assembler interface {
	// add takes the data of an event, which is a JSON object or the word that ends a stream, and returns the text that is new. It
	// keeps nothing of data. After done nothing more is read.
	add(data []byte) (text string, done bool, err error)
	// answer returns the answer once the stream has ended, and an error when that was not its proper end.
	answer() (Answer, error)
}
