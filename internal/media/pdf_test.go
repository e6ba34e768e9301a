package media

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParsePages(t *testing.T) {
	for _, c := range []struct {
		text  string
		count int
		want  PageSet
		flaw  string
	}{
		{"", 3, PageSet{Pages: []int{1, 2, 3}}, ""},
		{"", 11, PageSet{}, "more than 10 pages"},
		{"3", 40, PageSet{Pages: []int{3}}, ""},
		{" 1 - 3 ", 40, PageSet{Pages: []int{1, 2, 3}}, ""},
		{"1-3,8", 40, PageSet{Pages: []int{1, 2, 3, 8}}, ""},
		{"8,1-3,2", 40, PageSet{Pages: []int{1, 2, 3, 8}}, ""},
		{"38-50", 40, PageSet{Pages: []int{38, 39, 40}, Clipped: true}, ""},
		{"38-", 40, PageSet{Pages: []int{38, 39, 40}}, ""},
		{"1-21", 40, PageSet{}, "at most 20"},
		{"1-10,20-30", 40, PageSet{}, "at most 20"},
		{"41", 40, PageSet{}, "behind the last page"},
		{"41-", 40, PageSet{}, "behind the last page"},
		{"5-3", 40, PageSet{}, "backwards"},
		{"0", 40, PageSet{}, "no page range"},
		{"-3", 40, PageSet{}, "no page range"},
		{"1,,2", 40, PageSet{}, "no page range"},
		{"one", 40, PageSet{}, "no page range"},
		{"1-2-3", 40, PageSet{}, "no page range"},
		{"39-9999999999", 40, PageSet{Pages: []int{39, 40}, Clipped: true}, ""},
		{"39-99999999999999999999999", 40, PageSet{Pages: []int{39, 40}, Clipped: true}, ""},
		{"1000000-9999999999", 40, PageSet{}, "page 1000000 is behind the last page"},
		{"99999999999999999999999", 40, PageSet{}, "page 99999999999999999999999 is behind the last page"},
		{"-99999999999999999999999", 40, PageSet{}, "no page range"},
	} {
		got, err := ParsePages(c.text, c.count)
		var flaw *PagesError
		if c.flaw == "" && (err != nil || !reflect.DeepEqual(got, c.want)) || c.flaw != "" && (!errors.As(err, &flaw) || !strings.Contains(flaw.Reason, c.flaw) || flaw.Count != c.count) {
			t.Errorf("%q of %d: %+v %v", c.text, c.count, got, err)
		}
	}
	set, err := ParsePages("7-", 40)
	if err != nil || len(set.Pages) != 20 || set.Pages[19] != 26 || set.Next != 27 {
		t.Errorf("%+v %v", set, err)
	}
	if s := Spoken([]int{1, 2, 3, 8, 10, 11}); s != "1-3,8,10-11" {
		t.Error(s)
	}
}
