package save

import (
	"testing"
)

func TestReplaceAndCreate(t *testing.T) {
	d := newDesk(t)
	path := d.put("a.txt", "old\n")
	out, err := whole(d.save, path, "new\n")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", out)
	d.want("a.txt", "new\n")
	out, err = whole(d.save, d.path("b/c/d.txt"), "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", out)
	d.want("b/c/d.txt", "x")
	d.wantNames("a.txt", "b")
}
