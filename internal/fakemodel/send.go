package fakemodel

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/internal/standin"
)

// after lets an answer that was billed become a reply, or not.
func (x *exchange) after(a answered, held *standin.Held) {
	fault := Fault("")
	if x.out.Bill != nil {
		fault = x.out.Bill.Fault
	}
	switch fault {
	case DropAfter:
		x.drop()
		return
	case HangAfter:
		if !held.Wait(x.r.Context()) {
			return
		}
	case InvalidUTF8:
		a.Text = "\xff\xfe" + a.Text
	}
	if !standin.Pause(x.r.Context(), x.delay) {
		return
	}
	parts, err := x.parts(a)
	if err != nil {
		x.refuse(http.StatusInternalServerError, err.Error())
		return
	}
	switch fault {
	case InvalidJSON:
		damage(parts)
	case Short:
		if a.stream {
			parts = parts[:len(parts)/2]
		} else {
			parts[0] = parts[0][:len(parts[0])/2]
		}
	}
	if x.out.Replayed {
		x.w.Header().Set(model.ReplayedHeader, "true")
	}
	x.send(a.stream, parts, fault == Cut)
}

// parts are the pieces of the reply, one when it is not streamed.
func (x *exchange) parts(a answered) ([][]byte, error) {
	if a.stream {
		return x.protocol.pieces(a)
	}
	body, err := x.protocol.whole(a)
	return [][]byte{body}, err
}

// damage makes one of the parts no JSON.
func damage(parts [][]byte) {
	part := &parts[len(parts)/2]
	if i := bytes.LastIndexByte(*part, '}'); i >= 0 {
		*part = slices.Replace(slices.Clone(*part), i, i+1, ']')
	}
}

// send writes a reply with status 200, each piece by itself. With cut it breaks the connection off inside.
func (x *exchange) send(stream bool, parts [][]byte, cut bool) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	left := size
	if cut {
		if left = size / 2; x.cutAfter > 0 {
			left = min(x.cutAfter, size-1)
		}
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", "text/event-stream")
	} else {
		h.Set("Content-Length", strconv.Itoa(size))
	}
	x.out.Status = http.StatusOK
	x.w.WriteHeader(http.StatusOK)
	c := http.NewResponseController(x.w)
	for _, p := range parts {
		p = p[:min(left, len(p))]
		left -= len(p)
		if _, err := x.w.Write(p); err != nil || c.Flush() != nil {
			return // the client is gone
		}
	}
	if cut {
		panic(http.ErrAbortHandler) // net/http's way to break a reply off
	}
}

// drop ends the connection without a reply.
func (x *exchange) drop() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // where a connection cannot be taken over
	}
	conn.Close()
}
