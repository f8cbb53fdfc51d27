package toolabi

import "encoding/binary"

// The request and the reply of a call cross the sandbox with every call, and errors with many, so they are written and read here
// by hand: without reflection, whose tables a clean instance would have to build again each time, and without a copy of the
// payload. Each function agrees with Encode or Decode on every byte.

// The major types of CBOR that an envelope is made of, as the upper three bits of a head.
const (
	cborUint  = 0 << 5
	cborBytes = 2 << 5
	cborText  = 3 << 5
	cborMap   = 5 << 5
)

// AppendRequest appends what Encode returns for r to dst.
func AppendRequest(dst []byte, r Request) []byte {
	dst = append(dst, cborMap|3, 1)
	dst = appendHead(dst, cborUint, uint64(r.ABI))
	dst = appendText(append(dst, 2), r.Tool)
	dst = appendHead(append(dst, 3), cborBytes, uint64(len(r.Input)))
	return append(dst, r.Input...)
}

// DecodeRequest does what Decode does for a Request, except that the input is not copied: it is a part of b.
func DecodeRequest(b []byte) (Request, error) {
	if r, ok := readRequest(b); ok {
		return r, nil
	}
	var r Request
	if err := Decode(b, &r); err != nil {
		return Request{}, err
	}
	return r, nil
}

// AppendReply appends what Encode returns for r to dst.
func AppendReply(dst []byte, r Reply) []byte {
	var n byte
	if len(r.Output) > 0 {
		n++
	}
	if r.Err != nil {
		n++
	}
	dst = append(dst, cborMap|n)
	if len(r.Output) > 0 {
		dst = appendHead(append(dst, 1), cborBytes, uint64(len(r.Output)))
		dst = append(dst, r.Output...)
	}
	if r.Err != nil {
		dst = AppendError(append(dst, 2), r.Err)
	}
	return dst
}

// DecodeReply does what Decode does for a Reply, except that the output is not copied: it is a part of b.
func DecodeReply(b []byte) (Reply, error) {
	if r, ok := readReply(b); ok {
		return r, nil
	}
	var r Reply
	if err := Decode(b, &r); err != nil {
		return Reply{}, err
	}
	return r, nil
}

// DecodeError does what Decode does for an Error.
func DecodeError(b []byte) (*Error, error) {
	in := reader{rest: b}
	if e := in.error(); in.done() {
		return e, nil
	}
	e := new(Error)
	if err := Decode(b, e); err != nil {
		return nil, err
	}
	return e, nil
}

// AppendError appends what Encode returns for e to dst.
func AppendError(dst []byte, e *Error) []byte {
	at := len(dst)
	dst = append(dst, cborMap|1, 1)
	dst = appendHead(dst, cborUint, uint64(e.Code))
	if e.Message != "" {
		dst[at]++
		dst = appendText(append(dst, 2), e.Message)
	}
	for i, n := range [...]uint64{uint64(e.Retry), uint64(e.Effect), e.RetryAfterMS} {
		if n != 0 {
			dst[at]++
			dst = appendHead(append(dst, byte(3+i)), cborUint, n)
		}
	}
	if e.Detail != "" {
		dst[at]++
		dst = appendText(append(dst, 6), e.Detail)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(appendHead(dst, cborText, uint64(len(s))), s...)
}

// appendHead appends the head of an item of a major type, in its shortest form.
func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}
