// Command stores is a guest for tests: its tools count in stores and keep artifacts.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("stores", "1.0.0", "Counts, and keeps reports.",
		sdk.Need(toolabi.FuncKVGet, "to read its counters"), sdk.Need(toolabi.FuncKVPut, "to count"),
		sdk.Need(toolabi.FuncKVCAS, "to count with others"), sdk.Need(toolabi.FuncKVDelete, "to clean up"),
		sdk.Need(toolabi.FuncKVList, "to see what is left"),
		sdk.Need(toolabi.FuncArtifactPut, "to keep reports"), sdk.Need(toolabi.FuncArtifactGet, "to read them"))
	sdk.Register(sdk.Tool[Order, Tally]{Name: "tally", Description: "Counts and keeps a report.", Run: tally})
}

func main() {}

// Order is who counts, and how long the report is in lines.
type Order struct {
	Name  string `json:"name"`
	Lines int    `json:"lines"`
	// Trap ends the tool in the middle, with a report that no run has.
	Trap bool `json:"trap,omitempty"`
}

// Tally is what was counted: by the one who counts, by all, and what is left of the keys that begin with the name.
type Tally struct {
	Own    int      `json:"own"`
	Shared int      `json:"shared"`
	Report string   `json:"report"`
	Size   int      `json:"size"`
	Keys   []string `json:"keys"`
}

func tally(_ context.Context, in Order) (t Tally, err error) {
	if t.Own, err = count(in.Name + "/own"); err != nil {
		return t, err
	}
	if t.Shared, err = share("shared"); err != nil {
		return t, err
	}
	gone := in.Name + "/gone"
	if _, err := sdk.KVPut(toolabi.KVPutRequest{Key: gone, Value: []byte("soon")}); err != nil {
		return t, err
	}
	if d, err := sdk.KVDelete(toolabi.KVDeleteRequest{Key: gone}); err != nil || !d.Found {
		return t, errors.Join(err, fmt.Errorf("removed: %v", d.Found))
	}
	body := bytes.Repeat(fmt.Appendf(nil, "%s %d\n", in.Name, t.Own), in.Lines)
	put, err := sdk.ArtifactPut(toolabi.ArtifactPutRequest{Body: body, Name: fmt.Sprintf("%s-%d.txt", in.Name, t.Own)})
	if err != nil {
		return t, err
	}
	if in.Trap {
		panic("the order says so")
	}
	got, err := sdk.ArtifactGet(toolabi.ArtifactGetRequest{Artifact: put.Artifact})
	if err != nil || !bytes.Equal(got.Body, body) {
		return t, errors.Join(err, fmt.Errorf("%d bytes of %d come back", len(got.Body), len(body)))
	}
	t.Report, t.Size = put.Artifact, int(got.Size)
	list, err := sdk.KVList(toolabi.KVListRequest{Prefix: in.Name + "/"})
	for _, item := range list.Items {
		t.Keys = append(t.Keys, item.Key)
	}
	return t, err
}

// count adds one to a key that nobody else writes.
func count(key string) (int, error) {
	now, err := sdk.KVGet(toolabi.KVGetRequest{Key: key})
	if err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(string(now.Value))
	_, err = sdk.KVPut(toolabi.KVPutRequest{Key: key, Value: strconv.AppendInt(nil, int64(n+1), 10)})
	return n + 1, err
}

// share adds one to a key that others write too.
func share(key string) (int, error) {
	for {
		now, err := sdk.KVGet(toolabi.KVGetRequest{Key: key})
		if err != nil {
			return 0, err
		}
		n, _ := strconv.Atoi(string(now.Value))
		_, err = sdk.KVCAS(toolabi.KVCASRequest{Key: key, Value: strconv.AppendInt(nil, int64(n+1), 10), Expect: now.Version})
		if !errors.Is(err, toolabi.Conflict) {
			return n + 1, err
		}
	}
}
