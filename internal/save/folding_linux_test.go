//go:build !fsys_portable

package save

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/volumetest"
)

// In a volume that folds case and normal form, writers that use different spellings of one
// name wait for each other: no update is lost, and the name keeps its first spelling.
func TestFoldedNamesShareALock(t *testing.T) {
	top := volumetest.Folding(t)
	for name, system := range map[string]poorer{"linux": {}, "mac": {mac: true}} {
		t.Run(name, func(t *testing.T) {
			d := newTestFolderIn(t, top)
			d.put("Caf\u00e9", "")
			d.open(func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			const edits = 25
			var all sync.WaitGroup
			for w, spelling := range []string{"Caf\u00e9", "cafe\u0301", "CAF\u00c9", "CAFE\u0301"} {
				all.Go(func() {
					for n := range edits {
						for try := 0; ; try++ {
							_, err := change(d.save, d.path(spelling), func(old []byte) ([]span.Splice, error) {
								at := int64(len(old))
								return []span.Splice{{Start: at, End: at, New: fmt.Appendf(nil, "%d-%d\n", w, n)}}, nil
							})
							if err == nil {
								break
							}
							if try == 100 {
								t.Error(err)
								return
							}
						}
					}
				})
			}
			all.Wait()
			if got := strings.Count(d.get("Caf\u00e9"), "\n"); got != 4*edits {
				t.Errorf("%d of %d edits are there", got, 4*edits)
			}
			if got := d.names(); len(got) != 1 || got[0] != "Caf\u00e9" {
				t.Errorf("the folder holds %q", got)
			}
		})
	}
}

// A lock under one spelling is that of the other.
func TestFoldedLockKeys(t *testing.T) {
	d := newTestFolderIn(t, volumetest.Folding(t))
	d.put("Stra\u00dfe-e\u0301", "")
	first, err := lockKeyOf(target(t, d.path("Stra\u00dfe-e\u0301")))
	if err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{"STRASSE-\u00c9", "stra\u00dfe-\u00e9", "strasse-E\u0301"} {
		if key, err := lockKeyOf(target(t, d.path(spelling))); err != nil || key != first {
			t.Errorf("%q has another key, %v", spelling, err)
		}
	}
}
