package hostfuncs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/wrun-dev/wrun/toolabi"
)

// reply makes the reply of what a server answered to r. The values of secrets are hidden in all of it.
func (h *client) reply(ctx context.Context, c Call, r *request, res *http.Response) (toolabi.HTTPReply, error) {
	limit := int64(toolabi.MaxHTTPBody)
	if r.keep > 0 {
		limit = r.keep
	}
	if res.ContentLength > limit && r.method != http.MethodHead {
		return toolabi.HTTPReply{}, oversizedBody(res.StatusCode, limit)
	}
	in := &arriving{r: res.Body, max: limit, status: res.StatusCode}
	body, err := r.decoded(res, in)
	if err != nil {
		return toolabi.HTTPReply{}, in.because(err)
	}
	headers, err := replyHeaders(res.Header, h.secrets)
	if err != nil {
		return toolabi.HTTPReply{}, oversized(res.StatusCode, err.Error())
	}
	reply := toolabi.HTTPReply{Status: uint16(res.StatusCode), Headers: headers}
	if r.hops > 0 {
		reply.URL = h.secrets.HideText(r.origin.String() + r.target)
	}
	if r.keep > 0 {
		err = r.keepBody(ctx, c, h.secrets, in, body, &reply)
		return reply, err
	}
	raw := &bounded{r: body, left: limit, max: limit, status: res.StatusCode}
	// A mark can be longer than what it stands for.
	reply.Body, err = io.ReadAll(&bounded{r: h.secrets.Hiding(raw), left: limit, max: limit, status: res.StatusCode})
	if err != nil {
		return toolabi.HTTPReply{}, in.because(err)
	}
	return reply, nil
}

// keepBody puts the body of a reply into an artifact, however long it is, in constant memory.
func (r *request) keepBody(ctx context.Context, c Call, secrets *Vault, in *arriving, body io.Reader, reply *toolabi.HTTPReply) error {
	out := &bounded{r: secrets.Hiding(body), left: r.keep, max: r.keep, status: int(reply.Status)}
	digest, size, err := c.Artifacts.Put(ctx, out)
	switch {
	case out.err != nil:
		return in.because(out.err)
	case err == nil:
		err = madeRoom(ctx, c, r.function) // others may have been faster
	}
	if err != nil {
		return r.unkept(ctx, reply.Status, err)
	}
	reply.Artifact, reply.Size = digest.String(), uint64(size)
	return nil
}

// unkept is the error of a reply that came and that the host could not keep.
func (r *request) unkept(ctx context.Context, status uint16, err error) error {
	e := *AsError(err)
	if isTimeout(ctx, err) {
		e.Code = toolabi.Timeout
	}
	e.Message = toolabi.CleanLine(fmt.Sprintf("%s: %s: the server answered with status %d, and its body could not be kept: %s", r.function, r.origin, status, e.Message), 500)
	e.Effect, e.Detail = toolabi.EffectApplied, fmt.Sprintf("status_%d", status)
	return &e
}

// room finds out how much of what r wants to keep can be kept, before anything is sent.
func (r *request) room(ctx context.Context, c Call) error {
	if r.keep == 0 {
		return nil
	}
	if c.Artifacts == nil {
		return noArtifacts(r.function)
	}
	count, used, err := c.Artifacts.Usage(ctx)
	switch {
	case err != nil:
		return err
	case count >= toolabi.MaxArtifacts:
		return tooLargef("%s: the run has %d artifacts, at most %d are allowed", r.function, count, toolabi.MaxArtifacts)
	case used >= c.Grants.Artifacts:
		return tooLargef("%s: the artifacts of the run have %d bytes, and %d are granted (--allow-artifacts=SIZE)", r.function, used, c.Grants.Artifacts)
	}
	if left := c.Grants.Artifacts - used; left < uint64(r.keep) {
		r.keep, r.scarce = int64(left), true
	}
	return nil
}

// arriving is a body as it comes from the server, at most max bytes of it.
type arriving struct {
	r      io.Reader
	n, max int64
	status int
	err    error // what is wrong with the connection or the framing
}

func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	a.n += int64(n)
	if a.n > a.max {
		return 0, oversizedBody(a.status, a.max)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}

// because returns why a body could not be read: what is wrong with how it came counts before what is wrong with what came.
func (a *arriving) because(err error) error {
	var told *replyError
	switch {
	case a.err != nil:
		return broken(a.err, "the server sent a malformed body")
	case errors.As(err, &told):
		return told
	case errors.Is(err, errFull):
		return &replyError{code: toolabi.Unavailable, detail: toolabi.DetailSecret, text: fmt.Sprintf("the server answered with status %d and a body, and %v", a.status, errFull), answered: true}
	}
	return badEncoding(a.status, "a body that is no gzip")
}

// bounded is at most max bytes, and an error for what is longer.
type bounded struct {
	r         io.Reader
	left, max int64
	status    int
	err       error // the last one, but the end
}

func (c *bounded) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.left -= int64(n); c.left < 0 {
		n, err = 0, oversizedBody(c.status, c.max)
	}
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// decoded returns the body of a reply without its content encoding, where that is to be undone.
func (r *request) decoded(res *http.Response, in *arriving) (io.Reader, error) {
	encoded, known := contentEncoding(res.Header)
	if !encoded || !r.decompress && !r.guarded {
		return in, nil
	}
	body := bufio.NewReader(in)
	if _, err := body.Peek(1); errors.Is(err, io.EOF) {
		return body, nil // nothing is encoded in nothing, such as the reply to a HEAD
	} else if err != nil {
		return nil, err
	}
	switch {
	case !r.decompress:
		return nil, badEncoding(res.StatusCode, "a content encoding that nobody asked for, which could hide a secret")
	case !known:
		return nil, badEncoding(res.StatusCode, "a content encoding other than gzip")
	}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	return &inflated{in: in, buffered: body, status: res.StatusCode}, nil
}
