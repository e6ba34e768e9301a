//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// TestServersMultiEditTheSameFiles has two servers make MultiEdits of the same three files, each
// of its own lines: none is lost, and no file has a part of one call alone.
func TestServersMultiEditTheSameFiles(t *testing.T) {
	edits := count(t, "FSMCP_MULTIEDITS", 40)
	p := newPlace(t)
	var files []string
	var text strings.Builder
	for i := range edits {
		fmt.Fprintf(&text, "a%d old\nb%d old\n", i, i)
	}
	for i := range 3 {
		files = append(files, p.file(fmt.Sprintf("m%d.txt", i)))
		must(t, os.WriteFile(files[i], []byte(text.String()), 0o666))
	}
	var wg sync.WaitGroup
	refused := make([]int, 2)
	for s, who := range []string{"a", "b"} {
		c := p.start(t, "FSMCP_TOOLS=all")
		defer c.Close()
		for _, file := range files {
			mustCall(t, c, "Read", args{"file_path": file})
		}
		wg.Go(func() { refused[s] = manyEditor(t, c, files, who, edits) })
	}
	wg.Wait()
	for _, file := range files {
		if left := bytes.Count(read(t, file), []byte(" old")); left > 0 {
			t.Errorf("%s: %d edits were lost", file, left)
		}
		if n := bytes.Count(read(t, file), []byte(" new")); n != 2*edits {
			t.Errorf("%s: %d edits are there, not %d", file, n, 2*edits)
		}
	}
	report(t, "2 servers x %d MultiEdits of 3 files, %d and %d calls were refused and repeated", edits, refused[0], refused[1])
}

// manyEditor makes the edits of one server, each until it is reported as done.
func manyEditor(t *testing.T, c *mcptest.Client, files []string, who string, edits int) (refused int) {
	for i := range edits {
		var list []args
		for f := range files { // each call names them in another order
			list = append(list, args{"file_path": files[(f+i)%len(files)], "old_string": fmt.Sprintf("%s%d old\n", who, i), "new_string": fmt.Sprintf("%s%d new\n", who, i)})
		}
		for try := 0; ; try++ {
			res, err := c.Call("MultiEdit", args{"edits": list})
			if err != nil || try > 200 {
				t.Errorf("%s%d: %v after %d tries: %s", who, i, err, try, clip(res.Text))
				return refused
			}
			if !res.IsError {
				break
			}
			if refused++; res.Slug != "modified" && res.Slug != "busy" {
				t.Errorf("%s%d: %d %s", who, i, res.Code, clip(res.Text))
				return refused
			}
		}
	}
	return refused
}
