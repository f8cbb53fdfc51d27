package sdktest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// upload is the body that is sent, with the values of secrets.
func (s *stage) upload(name string, req toolabi.HTTPRequest) ([]byte, error) {
	if (req.BodyArtifact != "" || req.ToArtifact > 0) && s.Artifacts == nil {
		return nil, toolabi.NewError(toolabi.Denied, name+": the test's world keeps no artifacts")
	}
	if req.BodyArtifact == "" {
		return []byte(s.fill(string(req.Body))), nil
	}
	body, found := s.kept(req.BodyArtifact)
	if !found {
		return nil, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("%s: the run has no artifact %s", name, req.BodyArtifact))
	}
	return body, nil
}

// replyOf is what the handler wrote, as the tool gets it.
func (s *stage) replyOf(name string, req toolabi.HTTPRequest, rec *httptest.ResponseRecorder) (reply toolabi.HTTPReply, err error) {
	header := rec.Result().Header
	body := rec.Body.Bytes()
	encoding := strings.ToLower(header.Get("Content-Encoding"))
	switch encoded := encoding != "" && encoding != "identity"; {
	case encoded && req.Decompress:
		if body, err = inflate(body); err != nil || encoding != "gzip" && encoding != "x-gzip" {
			return reply, badEncoding(name, rec.Code)
		}
		header.Del("Content-Encoding")
		header.Del("Content-Length")
	case encoded && len(s.Secrets) > 0: // it could hide one
		return reply, badEncoding(name, rec.Code)
	}
	reply = toolabi.HTTPReply{Status: uint16(rec.Code), Body: []byte(s.hide(string(body)))}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			reply.Headers = append(reply.Headers, toolabi.Header{Name: name, Value: s.hide(strings.ToValidUTF8(value, "\uFFFD"))})
		}
	}
	return reply, nil
}

func badEncoding(name string, status int) error {
	e := toolabi.NewError(toolabi.Unavailable, fmt.Sprintf("%s: the server answered with status %d and what is not one whole gzip, or not undone", name, status))
	e.Detail, e.Effect = "encoding", toolabi.EffectApplied
	return e
}

func inflate(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// download keeps the body of a reply as an artifact, where the tool asked for that.
func (s *stage) download(name string, req toolabi.HTTPRequest, reply toolabi.HTTPReply) (toolabi.HTTPReply, error) {
	tooLarge := func(format string, a ...any) (toolabi.HTTPReply, error) {
		e := toolabi.NewError(toolabi.TooLarge, name+": "+fmt.Sprintf(format, a...)+"; nothing of it was kept")
		e.Detail, e.Effect = fmt.Sprintf("status_%d", reply.Status), toolabi.EffectApplied
		return toolabi.HTTPReply{}, e
	}
	size := uint64(len(reply.Body))
	switch {
	case req.ToArtifact == 0 && size > toolabi.MaxHTTPBody:
		return tooLarge("a body of %d bytes, at most %d are answered", size, toolabi.MaxHTTPBody)
	case req.ToArtifact == 0:
		return reply, nil
	case size > req.ToArtifact:
		return tooLarge("a body of %d bytes, at most %d are wanted", size, req.ToArtifact)
	}
	digest := toolabi.DigestOf(reply.Body).String()
	if _, have := s.kept(digest); !have {
		count, used := s.usage()
		if count >= toolabi.MaxArtifacts || used+size > s.quota() {
			return tooLarge("the run would have %d artifacts of %d bytes, and is granted %d bytes", count+1, used+size, s.quota())
		}
		s.Artifacts[digest] = bytes.Clone(reply.Body)
	}
	reply.Body, reply.Artifact, reply.Size = nil, digest, size
	return reply, nil
}
