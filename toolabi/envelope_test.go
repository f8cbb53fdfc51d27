package toolabi_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestEnvelopesAreWrittenAsEncodeWritesThem(t *testing.T) {
	for _, size := range []int{0, 1, 23, 24, 255, 256, 1<<16 - 1, 1 << 16} {
		text, payload := strings.Repeat("ä", size)[:size/2*2], bytes.Repeat([]byte{7}, size)
		checkRequest(t, toolabi.Request{ABI: uint8(size), Tool: text, Input: payload})
		checkReply(t, toolabi.Reply{Output: payload})
		checkReply(t, toolabi.Reply{Err: &toolabi.Error{
			Code: toolabi.Code(size), Message: text, Retry: toolabi.Retry(size), Effect: toolabi.EffectState(size), RetryAfterMS: uint64(size), Detail: text,
		}})
	}
	checkReply(t, toolabi.Reply{Output: []byte("{}"), Err: &toolabi.Error{RetryAfterMS: math.MaxUint64}})
	checkReply(t, toolabi.Reply{Err: &toolabi.Error{RetryAfterMS: math.MaxUint32, Detail: "d"}})
	checkReply(t, toolabi.Reply{Err: &toolabi.Error{RetryAfterMS: math.MaxUint32 + 1}})
}

func TestEnvelopesAreReadAsDecodeReadsThem(t *testing.T) {
	for _, v := range vectors(t) {
		checkEnvelope(t, v.Bytes(t))
	}
}

func TestWhatIsReadIsAPartOfTheMessage(t *testing.T) {
	b := toolabi.AppendRequest(nil, toolabi.Request{ABI: 1, Tool: "t", Input: []byte("{}")})
	r, err := toolabi.DecodeRequest(append(b, 1)[:len(b)])
	if err != nil {
		t.Fatal(err)
	}
	if &r.Input[0] != &b[len(b)-2] || cap(r.Input) != 2 {
		t.Errorf("the input is a copy, or has room for %d bytes", cap(r.Input))
	}
}

func TestSmallEnvelopesAreNotAllocated(t *testing.T) {
	buf := make([]byte, 0, 128)
	request := toolabi.Request{ABI: 1, Tool: "sum", Input: []byte(`{"numbers":[1,2,3]}`)}
	reply := toolabi.AppendReply(nil, toolabi.Reply{Output: []byte(`{"total":6}`)})
	if n := testing.AllocsPerRun(100, func() { buf = toolabi.AppendRequest(buf[:0], request) }); n != 0 {
		t.Errorf("a request was written with %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if r, err := toolabi.DecodeReply(reply); err != nil || len(r.Output) == 0 {
			t.Fatal(r, err)
		}
	}); n != 0 {
		t.Errorf("a reply was read with %v allocations", n)
	}
}

// FuzzDecodeEnvelope holds the two ways of reading an envelope against each other, for any bytes.
func FuzzDecodeEnvelope(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Bytes(f))
	}
	f.Add(encode(f, toolabi.Reply{Output: []byte("{}"), Err: &toolabi.Error{Code: 1, Message: "m", Retry: 3, Effect: 2, RetryAfterMS: 1 << 40, Detail: "d"}}))
	f.Fuzz(checkEnvelope)
}

// FuzzAppendEnvelope holds the two ways of writing an envelope against each other.
func FuzzAppendEnvelope(f *testing.F) {
	f.Add(uint8(1), "sum", []byte("{}"), uint16(10), "no luck", uint8(3), uint8(2), uint64(1000), "luck")
	f.Fuzz(func(t *testing.T, abi uint8, tool string, payload []byte, code uint16, message string, retry, effect uint8, after uint64, detail string) {
		checkRequest(t, toolabi.Request{ABI: abi, Tool: tool, Input: payload})
		e := &toolabi.Error{
			Code: toolabi.Code(code), Message: message, Retry: toolabi.Retry(retry), Effect: toolabi.EffectState(effect), RetryAfterMS: after, Detail: detail,
		}
		checkReply(t, toolabi.Reply{Output: payload})
		checkReply(t, toolabi.Reply{Err: e})
		checkReply(t, toolabi.Reply{Output: payload, Err: e})
		if got, want := toolabi.AppendError([]byte("before"), e), append([]byte("before"), encode(t, e)...); !bytes.Equal(got, want) {
			t.Errorf("%+v was written as %x, want %x", e, got, want)
		}
	})
}

func checkEnvelope(t *testing.T, b []byte) {
	t.Helper()
	var request toolabi.Request
	r, err := toolabi.DecodeRequest(b)
	sameRead(t, b, r, err, &request)
	var reply toolabi.Reply
	p, err := toolabi.DecodeReply(b)
	sameRead(t, b, p, err, &reply)
	var failure, got toolabi.Error
	e, err := toolabi.DecodeError(b)
	if e != nil {
		got = *e
	}
	sameRead(t, b, got, err, &failure)
}

// sameRead checks what was read by hand against what Decode reads into want.
func sameRead[T any](t *testing.T, b []byte, got T, err error, want *T) {
	t.Helper()
	wantErr := toolabi.Decode(b, want)
	switch {
	case (err == nil) != (wantErr == nil), err != nil && err.Error() != wantErr.Error():
		t.Errorf("%x as %T: got the error %v, want %v", b, got, err, wantErr)
	case err != nil && !reflect.ValueOf(got).IsZero():
		t.Errorf("%x: %+v was returned beside an error", b, got)
	case err == nil && !reflect.DeepEqual(got, *want):
		t.Errorf("%x was read as %+v, want %+v", b, got, *want)
	}
}

func checkRequest(t *testing.T, r toolabi.Request) {
	t.Helper()
	if got, want := toolabi.AppendRequest([]byte("before"), r), append([]byte("before"), encode(t, r)...); !bytes.Equal(got, want) {
		t.Errorf("%+v was written as %x, want %x", r, got, want)
	}
	checkEnvelope(t, encode(t, r))
}

func checkReply(t *testing.T, r toolabi.Reply) {
	t.Helper()
	if got, want := toolabi.AppendReply([]byte("before"), r), append([]byte("before"), encode(t, r)...); !bytes.Equal(got, want) {
		t.Errorf("%+v was written as %x, want %x", r, got, want)
	}
	checkEnvelope(t, encode(t, r))
}
