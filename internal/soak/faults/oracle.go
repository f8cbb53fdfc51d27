package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// oracle is the process that counts what really happened: see command oracle.
type oracle struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
	http  *http.Client
}

// startOracle starts one that keeps what it counts in a file.
func startOracle(program, file string) (*oracle, error) {
	o := &oracle{cmd: exec.Command(program, "-file", file), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	o.cmd.Stderr = os.Stderr
	stdin, err := o.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := o.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the oracle: %w", err)
	}
	o.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the oracle: %w", err), o.close())
	}
	o.url = strings.TrimSpace(line)
	return o, nil
}

func (o *oracle) close() error { return errors.Join(o.stdin.Close(), o.cmd.Wait()) }

// ask makes a request and reads the reply into v, unless that is nil.
func (o *oracle) ask(ctx context.Context, method, path, body string, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, o.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := o.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the oracle: %w", err)
	}
	b, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("ask the oracle: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the oracle: %s %s: status %d: %s", method, path, res.StatusCode, b)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(b, v)
}

// behave tells the oracle how to treat the next requests; what is not named is as in the beginning.
func (o *oracle) behave(ctx context.Context, b ledger.Behaviour) error {
	b.HonourKeys = true
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return o.ask(ctx, http.MethodPost, "/behaviour", string(text), nil)
}

// effects returns every request about a run, once nothing of dead processes is on its way any more.
func (o *oracle) effects(ctx context.Context, run string) (all []ledger.Request, err error) {
	if err := o.ask(ctx, http.MethodGet, "/settled", "", nil); err != nil {
		return nil, err
	}
	return all, o.ask(ctx, http.MethodGet, "/requests?about="+url.QueryEscape(run+"-"), "", &all)
}
