package save

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

func TestRemove(t *testing.T) {
	d := newTestFolder(t)
	d.put("f", "old")
	out, err := removeFile(d.save, d.path("f"))
	if err != nil || out.Saved != nil {
		t.Errorf("%+v, %v", out, err)
	}
	d.wantNames()
	if _, err := removeFile(d.save, d.path("f")); !errors.Is(err, ErrVanished) {
		t.Errorf("of no file: %v", err)
	}
	if err := os.Mkdir(d.path("g"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.put("f", "old")
	if err := os.Chmod(d.path("f"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := removeFile(d.save, d.path("f")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("of a read-only file: %v", err)
	}
	d.want("f", "old")
}

// A file that is not the one that was compared stays.
func TestRemoveModified(t *testing.T) {
	for name, act := range map[string]func(path string) error{
		"written": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o644) },
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("theirs"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t)
			path := d.put("f", "old")
			held := make(chan struct{})
			var refused error
			_, err := transact(d.save, path, func(x *Txn) (Written, error) {
				go func() { refused = act(path); close(held) }()
				until(t, "it is done, or held back until the end", func() bool {
					select {
					case <-held:
						return true
					default:
						return heldBack(x)
					}
				})
				return x.Remove(t.Context())
			})
			<-held
			if refused != nil && runtime.GOOS == "windows" {
				t.Skip("the system keeps the other program out: ", refused)
			}
			if !errors.Is(err, ErrModified) {
				t.Errorf("%v", err)
			}
			d.want("f", "theirs")
			d.wantNames("f")
		})
	}
}
