package pdf

import (
	"strings"
	"testing"
)

// A file may say a million times that here are packed objects. To unpack all of them
// takes longer than a page may take: whether one names a function is then taken for
// possible.
func TestStreamsOfObjectsAreNotUnpackedForEver(t *testing.T) {
	one := "/ObjStm stream\n" + zipped([]byte("x"))
	if transferred([]byte(strings.Repeat(one, 100))) {
		t.Error("a hundred that hold nothing name a function")
	}
	if !transferred([]byte(strings.Repeat(one, 10_000))) {
		t.Error("ten thousand are unpacked")
	}
	if !transferred([]byte(one + "/ObjStm stream\n" + zipped([]byte("<</TR 5 0 R>>")))) {
		t.Error("a function is not found")
	}
}
